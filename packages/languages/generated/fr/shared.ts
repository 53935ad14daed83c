// Written by `npm run languages` from the files of the languages.
import copy from '../../fr/shared/copy.json' with { type: 'json' };
import dates from '../../fr/shared/dates.json' with { type: 'json' };
import errors from '../../fr/shared/errors.json' with { type: 'json' };
import factors from '../../fr/shared/factors.json' with { type: 'json' };
import forms from '../../fr/shared/forms.json' with { type: 'json' };
import frame from '../../fr/shared/frame.json' with { type: 'json' };
import fresh from '../../fr/shared/fresh.json' with { type: 'json' };
import money from '../../fr/shared/money.json' with { type: 'json' };
import notices from '../../fr/shared/notices.json' with { type: 'json' };
import passkeys from '../../fr/shared/passkeys.json' with { type: 'json' };
import passwords from '../../fr/shared/passwords.json' with { type: 'json' };
import roles from '../../fr/shared/roles.json' with { type: 'json' };
import started from '../../fr/shared/started.json' with { type: 'json' };
import steps from '../../fr/shared/steps.json' with { type: 'json' };

export default { ...copy, ...dates, ...errors, ...factors, ...forms, ...frame, ...fresh, ...money, ...notices, ...passkeys, ...passwords, ...roles, ...started, ...steps };
