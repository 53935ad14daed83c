import { paymentCustomers } from '../../../platform/db/schema/billing.ts';
import type { TestApp } from '../../../testing/app.ts';
import { addMember, makeOwner } from '../../../testing/factories.ts';

/** Creates a user who left an organisation whose bills still go to the user's address, and the organisation's owner. */
export async function makeLeaver(test: TestApp) {
  const owner = await makeOwner(test, { operator: true });
  const { organisationId: organisation_id } = owner;
  const user = await addMember(test, organisation_id, 'admin');
  await user.api.organisations.changeBillingContact({ organisation_id, email: user.email });
  await owner.api.members.remove({ organisation_id, user_id: user.userId });
  await test.app.db.insert(paymentCustomers).values({
    organisationId: organisation_id,
    customerId: `cus_${organisation_id}`,
    createdAt: test.app.now(),
    contactEmail: user.email,
  });
  return { owner, user };
}
