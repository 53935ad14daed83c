// Prints every procedure of the router with its type and its input fields, as JSON, for tests that do not load the router.
import { fieldsOf, isMutation, procedures } from './fields-of.ts';

const described = procedures.map((path) => ({ path, isMutation: isMutation(path), fields: fieldsOf(path) }));
process.stdout.write(JSON.stringify(described));
