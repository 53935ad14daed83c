// Written by `npm run languages` from the files of the languages.
import apiDocs from '../../de/sign-in/api-docs.json' with { type: 'json' };
import invitation from '../../de/sign-in/invitation.json' with { type: 'json' };
import link from '../../de/sign-in/link.json' with { type: 'json' };
import signIn from '../../de/sign-in/sign-in.json' with { type: 'json' };
import signOut from '../../de/sign-in/sign-out.json' with { type: 'json' };
import signUp from '../../de/sign-in/sign-up.json' with { type: 'json' };
import verify from '../../de/sign-in/verify.json' with { type: 'json' };
import waiting from '../../de/sign-in/waiting.json' with { type: 'json' };

export default { ...apiDocs, ...invitation, ...link, ...signIn, ...signOut, ...signUp, ...verify, ...waiting };
