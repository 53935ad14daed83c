import { fileURLToPath } from 'node:url';

/**
 * Returns the folder of the migrations that belong to a program: the one that its build put beside it,
 * so that an updated checkout does not give new tables to an old build. A program that runs from its
 * source takes the sources' folder.
 */
export function migrationsOf(program: string | URL): string {
  const isSource = new URL(program).pathname.endsWith('.ts');
  return fileURLToPath(new URL(isSource ? '../../../packages/api/src/platform/db/migrations' : 'migrations', program));
}
