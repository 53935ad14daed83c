import { asc, gt } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { ForDeployment } from '../../auth/principal.ts';
import { listedOf, selectTargets, targetFrom } from '../../auth/sessions/target-organisation.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { idAfter, type keysetInput, keysetPageOf } from '../../platform/security/keyset-pagination.ts';

/**
 * Returns a page of all organisations, including those that await approval or are closed. `next` is null on the
 * last page.
 *
 * @throws AppError VALIDATION for an unreadable `after`.
 */
export async function listOrganisations(app: App, _principal: ForDeployment, input: z.output<typeof keysetInput>) {
  const after = idAfter(input);
  const rows = await selectTargets(app.db, after === null ? undefined : gt(organisations.id, after))
    .orderBy(asc(organisations.id))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit);
  return { organisations: page.map((row) => listedOf(app, targetFrom(row))), next };
}
