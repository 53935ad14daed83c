import type { Frame } from '#lib/frame.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals }): Frame => ({
  service: locals.service,
  theme: locals.theme,
  person: locals.principal && {
    email: locals.principal.user.email,
    name: locals.principal.user.name,
    operator: locals.principal.user.operator,
    organisation:
      locals.principal.organisation && (locals.principal.organisation.name ?? locals.principal.organisation.slug),
  },
});
