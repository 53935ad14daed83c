import type { Frame } from '#lib/frame.ts';
import { takeNotice } from '#lib/server/session/notice.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = async ({ locals, cookies, request }): Promise<Frame> => ({
  service: locals.service,
  theme: locals.theme,
  notice: await takeNotice({ locals, cookies, request }),
  person: locals.principal && {
    email: locals.principal.user.email,
    name: locals.principal.user.name,
    operator: locals.principal.user.operator,
    approved: locals.principal.gate === 'open',
    organisation:
      locals.principal.organisation && (locals.principal.organisation.name ?? locals.principal.organisation.slug),
  },
});
