import { type Ended, withEnded } from '#lib/format/ended-text.ts';
import { texts } from '#lib/language/texts.ts';
import { type Notice, named } from '#lib/notices/notice.ts';

/** "Larch & Sons is suspended.", with a button that restores it. `path` is the page of the user or organisation. */
export function suspendedNotice(
  name: string,
  path: string,
  { suspended_at }: { suspended_at: string },
  ended?: Ended,
): Notice {
  const t = texts('accountAdminDone');
  return {
    text: withEnded(t.suspended({ name: named(name) }), ended),
    action: { label: t.restore, post: `${path}?/restore`, fields: { suspended_at } },
  };
}
