/**
 * A sentence in parts. Names are parts of their own, so that the page can isolate their direction
 * (<bdi>), and days (ISO 8601), so that it can write them in the reader's zone.
 */
export type NoticeText = (string | { name: string } | { day: string })[];

/** What the reader can do about it: a link (to this page: load it again), or a form of one button ("Restore"). */
type NoticeAction = { label: string; href: string } | { label: string; post: string; fields?: Record<string, string> };

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

/** A notice as the page shows it; the id distinguishes two notices with the same text. */
export type ShownNotice = Notice & { id: string };

/**
 * Writes a sentence in which every `${value}` is a name: say`${person} is now an admin.`
 * Text that is not a name (a role, a count) goes through `plain`, a date through `day`.
 */
export function say(strings: TemplateStringsArray, ...values: (string | Plain | Day)[]): NoticeText {
  return strings
    .flatMap((string, at): NoticeText => {
      const value = values[at];
      if (value === undefined) return [string];
      if (typeof value === 'string') return [string, { name: value }];
      return [string, 'plain' in value ? value.plain : value];
    })
    .filter((part) => part !== '');
}

type Plain = { plain: string };
type Day = { day: string };

/** A value of `say` that is not a name. */
export function plain(text: string): Plain {
  return { plain: text };
}

/** A date in ISO 8601 as a value of `say`. */
export function day(iso: string): Day {
  return { day: iso };
}
