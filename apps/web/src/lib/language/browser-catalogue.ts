import { onDemand } from '@gatehouse/languages/generated/on-demand';
import type { Catalogue } from '@gatehouse/languages/messages';
import { type Area, areasOf } from './areas.ts';
import { language } from './language.ts';

const loaded: Catalogue = {};

/** The texts that the page has loaded. They are of one language: a change of it loads the document again. */
export function catalogueOf(): Catalogue {
  return loaded;
}

/** Loads the texts of a route in the language of the page, unless they are there. */
export async function loadTexts(routeId: string | null): Promise<void> {
  const files: Record<Area, () => Promise<{ default: Catalogue }>> = onDemand[language()];
  const areas = await Promise.all(areasOf(routeId).map((area) => files[area]()));
  Object.assign(loaded, ...areas.map(({ default: texts }) => texts));
}
