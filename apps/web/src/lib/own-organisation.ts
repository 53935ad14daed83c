import type { RouterOutputs } from '#lib/router.ts';

/** An organisation of the user, for the menu that switches between them. Only an approved one can be chosen. */
export type OwnOrganisation = RouterOutputs['organisations']['mine'][number];

/** The classes of the button that opens the menu, the same with and without a script. */
export const switchTrigger =
  'flex min-h-10 min-w-0 max-w-full items-center gap-1.5 rounded-field px-2 font-medium hover:bg-chip';
