// Written by `npm run languages` from the files of the languages.
import layout from '../../fr/mail/layout.json' with { type: 'json' };
import verification from '../../fr/mail/verification.json' with { type: 'json' };

export default { ...layout, ...verification };
