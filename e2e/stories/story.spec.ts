import { test } from '../support/service.ts';
import { runStory } from '../support/story.ts';

test('a customer signs up, buys and cancels a plan, and signs in through the identity provider', async ({
  browser,
  page,
  service,
}) => {
  await runStory(service, { browser, page });
});
