import { texts } from '#lib/language/texts.ts';
import type { NoticeText } from '#lib/notices/notice.ts';
import { formatList } from './lists.ts';

export interface Ended {
  keys: string[];
  invitations: number;
  links: number;
}

/** A notice, and after it what else has ended: " Ended as well: 2 invitations that aren’t used yet, API keys: Worker." */
export function withEnded(notice: NoticeText, ended: Ended | null | undefined): NoticeText {
  const text = ended == null ? '' : endedText(ended);
  return text === '' ? notice : [notice, text].flat();
}

/** What else has ended, after a sentence; nothing where nothing has. */
export function endedText({ keys, invitations, links }: Ended): string {
  const t = texts('started');
  const parts = [
    ...(invitations > 0 ? [t.invitations({ count: invitations })] : []),
    ...(links > 0 ? [t.links({ count: links })] : []),
    ...(keys.length > 0 ? [t.keys({ names: formatList(keys) })] : []),
  ];
  return parts.length === 0 ? '' : t.ended({ what: parts.join(', ') });
}
