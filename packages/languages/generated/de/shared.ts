// Written by `npm run languages` from the files of the languages.
import copy from '../../de/shared/copy.json' with { type: 'json' };
import dates from '../../de/shared/dates.json' with { type: 'json' };
import errors from '../../de/shared/errors.json' with { type: 'json' };
import factors from '../../de/shared/factors.json' with { type: 'json' };
import forms from '../../de/shared/forms.json' with { type: 'json' };
import frame from '../../de/shared/frame.json' with { type: 'json' };
import fresh from '../../de/shared/fresh.json' with { type: 'json' };
import money from '../../de/shared/money.json' with { type: 'json' };
import notices from '../../de/shared/notices.json' with { type: 'json' };
import passkeys from '../../de/shared/passkeys.json' with { type: 'json' };
import passwords from '../../de/shared/passwords.json' with { type: 'json' };
import roles from '../../de/shared/roles.json' with { type: 'json' };
import started from '../../de/shared/started.json' with { type: 'json' };
import steps from '../../de/shared/steps.json' with { type: 'json' };

export default { ...copy, ...dates, ...errors, ...factors, ...forms, ...frame, ...fresh, ...money, ...notices, ...passkeys, ...passwords, ...roles, ...started, ...steps };
