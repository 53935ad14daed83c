/**
 * A sentence, whole or in parts. Names are parts of their own, so that the page can isolate their direction
 * (<bdi>), and days (ISO 8601), so that it can write them in the user's time zone.
 */
export type NoticeText = string | (string | { name: string } | { day: string })[];

/** What the user can do about it: a link (to the same page, it loads the page again), or a form with one button. */
type NoticeAction = { label: string; href: string } | { label: string; post: string; fields?: Record<string, string> };

export interface Notice {
  text: NoticeText;
  /** Whether /login shows it among its content, because the user was led there. */
  inline?: boolean;
  /** 'warn' for what did not happen. */
  tone?: 'good' | 'warn';
  /**
   * The id of the element that takes the focus in place of the notice: in a list, the next row's
   * action. Where the page has no such element the notice takes it.
   */
  focus?: string;
  /** The id of the row (SettingRow.svelte) that says "Saved" in place of the notice's box, and takes the focus. */
  row?: string;
  action?: NoticeAction;
}

/** A notice as the page shows it; the id distinguishes two notices with the same text. */
export type ShownNotice = Notice & { id: string };

/** A name in a notice, as the value of a text's placeholder: `t.approved({ name: named(organisation) })`. */
export function named(text: string): { name: string } {
  return { name: text };
}

/** A date in ISO 8601 in a notice, as the value of a text's placeholder. */
export function onDay(iso: string): { day: string } {
  return { day: iso };
}
