/** A sentence in parts. Names are parts of their own, so that the page can isolate their direction (<bdi>). */
export type NoticeText = (string | { name: string })[];

/** What the reader can do about it: a link, or a form of one button ("Restore"). */
export type NoticeAction =
  | { label: string; href: string }
  | { label: string; post: string; fields?: Record<string, string> };

export interface Notice {
  text: NoticeText;
  /** 'warn' for what did not happen. */
  tone?: 'good' | 'warn';
  /**
   * The id of the element that takes the focus in place of the notice: in a list, the next row's
   * action. Where the page has no such element the notice takes it.
   */
  focus?: string;
  action?: NoticeAction;
}

/** A notice as the page shows it; the id tells two notices with the same text apart. */
export type ShownNotice = Notice & { id: string };

/**
 * Writes a sentence in which every `${value}` is a name: say`${person} is now an admin.`
 * Text that is not a name (a date, a role) goes through `plain`.
 */
export function say(strings: TemplateStringsArray, ...values: (string | Plain)[]): NoticeText {
  return strings
    .flatMap((string, at): NoticeText => {
      const value = values[at];
      if (value === undefined) return [string];
      return [string, typeof value === 'string' ? { name: value } : value.plain];
    })
    .filter((part) => part !== '');
}

type Plain = { plain: string };

/** A value of `say` that is not a name. */
export function plain(text: string): Plain {
  return { plain: text };
}
