/**
 * A sentence in parts. Names are parts of their own, so that the page can isolate their direction
 * (<bdi>), and days (ISO 8601), so that it can write them in the user's time zone.
 */
export type NoticeText = (string | { name: string } | { day: string })[];

/** What the user can do about it: a link (to the same page, it loads the page again), or a form with one button. */
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
 * Writes a sentence in which every `${value}` is a name: say`${name} is now an admin.`
 * Text that is not a name (a role, a count) goes through `plain`, a date through `day`.
 */
export function say(strings: TemplateStringsArray, ...values: (string | Plain | Day)[]): NoticeText {
  return strings
    .flatMap((string, index): NoticeText => {
      const value = values[index];
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
