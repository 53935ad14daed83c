import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Reader } from '../auth/principal.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';

/**
 * Returns the settings of the principal's organisation. Only administrators read the billing e-mail address.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function readOrganisation(app: App, principal: Reader) {
  const { id } = principal.requireOrganisation();

  const [row] = await app.db.select().from(organisations).where(eq(organisations.id, id));
  if (row === undefined) throw new AppError('NOT_FOUND', 'There is no such organisation.');
  return {
    id,
    slug: row.slug,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    billing_email: principal.scopes.includes('ADMIN') ? row.billingEmail : null,
  };
}
