import { organisations } from '../platform/db/schema/organisations.ts';

/** The columns that name an organisation and decide its status. */
export const basicColumns = {
  id: organisations.id,
  slug: organisations.slug,
  name: organisations.name,
  approval: organisations.approval,
  suspendedAt: organisations.suspendedAt,
};
