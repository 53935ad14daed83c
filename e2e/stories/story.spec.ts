import { test } from '../support/service.ts';
import { runStory } from '../support/story.ts';

test('from sign-up to a paid plan, its cancellation, and back in through the identity provider', async ({
  browser,
  page,
  service,
}) => {
  await runStory(service, { browser, page });
});
