/** One of the organisations between which somebody can switch. */
export interface OwnOrganisation {
  id: string;
  slug: string;
  name: string | null;
  current: boolean;
  /** only an approved one can be chosen */
  approval: 'approved' | 'pending' | 'closed';
}

/** The look of what opens the switch, the same with and without a script. */
export const switchTrigger =
  'flex min-h-10 min-w-0 max-w-full items-center gap-1.5 rounded-field px-2 font-medium hover:bg-chip';
