// Written by `npm run languages` from the files of the languages.
import copy from '../../en/shared/copy.json' with { type: 'json' };
import dates from '../../en/shared/dates.json' with { type: 'json' };
import errors from '../../en/shared/errors.json' with { type: 'json' };
import factors from '../../en/shared/factors.json' with { type: 'json' };
import forms from '../../en/shared/forms.json' with { type: 'json' };
import frame from '../../en/shared/frame.json' with { type: 'json' };
import fresh from '../../en/shared/fresh.json' with { type: 'json' };
import money from '../../en/shared/money.json' with { type: 'json' };
import notices from '../../en/shared/notices.json' with { type: 'json' };
import passkeys from '../../en/shared/passkeys.json' with { type: 'json' };
import passwords from '../../en/shared/passwords.json' with { type: 'json' };
import roles from '../../en/shared/roles.json' with { type: 'json' };
import started from '../../en/shared/started.json' with { type: 'json' };
import steps from '../../en/shared/steps.json' with { type: 'json' };

export default { ...copy, ...dates, ...errors, ...factors, ...forms, ...frame, ...fresh, ...money, ...notices, ...passkeys, ...passwords, ...roles, ...started, ...steps };
