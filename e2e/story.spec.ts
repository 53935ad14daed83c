import { test } from './service.ts';
import { walkStory } from './story.ts';

test('from sign-up to a paid plan, its cancellation, and back in through the identity provider', async ({
  browser,
  page,
  service,
}) => {
  await walkStory(service, { browser, page });
});
