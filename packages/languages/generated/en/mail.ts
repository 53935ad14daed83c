// Written by `npm run languages` from the files of the languages.
import layout from '../../en/mail/layout.json' with { type: 'json' };
import verification from '../../en/mail/verification.json' with { type: 'json' };

export default { ...layout, ...verification };
