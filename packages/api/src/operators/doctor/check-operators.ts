import type { App } from '../../app.ts';
import { listOperatorsWithoutFactor } from '../list-operators-without-factor.ts';
import { type Finding, note, right, wrong } from './finding.ts';

const maxNamed = 10;

/** Checks whether every operator has a second factor that can be used. Without one a password opens the console. */
export async function checkOperators(app: App): Promise<Finding[]> {
  const about = 'Operators';
  // That the database does not answer is another check's finding.
  const without = await listOperatorsWithoutFactor(app).catch(() => null);
  if (without === null) return [];
  if (without.length === 0) return [right(about, 'Each has a second factor, or there is none.')];

  const named = without.slice(0, maxNamed).map(({ email }) => email);
  const more = without.length > maxNamed ? ` and ${without.length - maxNamed} more` : '';
  const who = `${named.join(', ')}${more} ${without.length === 1 ? 'has' : 'have'} no second factor that can be used.`;
  if (app.config.secondFactor === 'none') {
    return [note(about, `${who} SECOND_FACTOR asks them for none.`)];
  }
  return [wrong(about, `${who} Let them set one up; after seven days without one grant gives the mark's power back.`)];
}
