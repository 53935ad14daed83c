// Written by `npm run languages` from the files of the languages.
import account from '../../de/app/account.json' with { type: 'json' };
import activity from '../../de/app/activity.json' with { type: 'json' };
import audit from '../../de/app/audit.json' with { type: 'json' };
import billing from '../../de/app/billing.json' with { type: 'json' };
import home from '../../de/app/home.json' with { type: 'json' };
import invoices from '../../de/app/invoices.json' with { type: 'json' };
import keys from '../../de/app/keys.json' with { type: 'json' };
import members from '../../de/app/members.json' with { type: 'json' };
import organisation from '../../de/app/organisation.json' with { type: 'json' };
import overview from '../../de/app/overview.json' with { type: 'json' };
import plan from '../../de/app/plan.json' with { type: 'json' };

export default { ...account, ...activity, ...audit, ...billing, ...home, ...invoices, ...keys, ...members, ...organisation, ...overview, ...plan };
