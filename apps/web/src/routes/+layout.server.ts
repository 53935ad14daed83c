import { brandingOf } from '#lib/branding/branding.ts';
import { organisationName } from '#lib/format/organisation-name.ts';
import type { LayoutData } from '#lib/layout-data.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { readTheme } from '#lib/server/page-html.ts';
import { takeNotice } from '#lib/server/session/notice.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals, cookies, request }): LayoutData => {
  const principal = signedInUser(locals);
  return {
    branding: brandingOf(locals.app),
    languages: locals.app.config.languages,
    theme: readTheme({ locals, cookies }),
    notice: takeNotice({ locals, cookies, request }),
    user: principal && {
      id: principal.user.id,
      email: principal.user.email,
      name: principal.user.name,
      operator: principal.operates,
      approved: principal.accountStatus === 'active',
      organisation: principal.organisation && organisationName(principal.organisation),
      fresh: principal.freshUntil !== null && principal.freshUntil > locals.app.now(),
      hasPassword: principal.hasPassword,
      hasFactor: principal.hasFactor,
      hasPasskey: principal.hasPasskey,
    },
  };
};
