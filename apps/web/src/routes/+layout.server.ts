import { brandingOf } from '#lib/branding/branding.ts';
import { organisationName } from '#lib/format/organisation-name.ts';
import type { Frame } from '#lib/frame.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { readTheme } from '#lib/server/http/render-page.ts';
import { takeNotice } from '#lib/server/session/notice.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = async ({ locals, cookies, request }): Promise<Frame> => {
  const principal = signedInUser(locals);
  return {
    service: brandingOf(locals.app),
    theme: readTheme(cookies),
    notice: await takeNotice({ locals, cookies, request }),
    person: principal && {
      id: principal.user.id,
      email: principal.user.email,
      name: principal.user.name,
      operator: principal.user.operator,
      approved: principal.gate === 'open',
      organisation: principal.organisation && organisationName(principal.organisation),
    },
  };
};
