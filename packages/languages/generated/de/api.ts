// Written by `npm run languages` from the files of the languages.
import errors from '../../de/api/errors.json' with { type: 'json' };

export default { ...errors };
