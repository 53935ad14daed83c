#!/bin/sh
# Makes inter-latin.woff2, the face of all pages: Inter 4.1 for languages in Latin script, with the weights 400
# to 600 and tabular figures. Contextual alternates are left out: they show the 9x0 of an id as 9×0.
# Needs npm and Python 3. Run it in an empty folder, then copy the result.
set -eu

npm pack --silent inter-ui@4.1.1
tar xzf inter-ui-4.1.1.tgz package/variable/InterVariable.woff2
python3 -m venv venv
venv/bin/pip install --quiet fonttools==4.66.1 brotli==1.2.0

# Latin, Latin-1, Latin Extended-A, and what Romanian, Pinyin, Azerbaijani, Welsh and Vietnamese need beyond them
latin='U+0020-007E,U+00A0-017F,U+01A0-01A1,U+01AF-01B0,U+01CD-01DC,U+01E6-01E7,U+0218-021B,U+0259,U+1E80-1E85,U+1E9E,U+1EA0-1EF9'
marks='U+02BB-02BC,U+02C6-02C7,U+02D8-02DD,U+0300-0304,U+0306-030C,U+031B,U+0323,U+0326-0328'
signs='U+2009-200B,U+2010-2015,U+2018-201E,U+2020-2022,U+2026,U+202F,U+2030,U+2032-2033,U+2039-203A,U+2044,U+20AB-20AC,U+2116,U+2122,U+2190-2193,U+2212,U+2248,U+2260,U+2264-2265,U+2713,U+FFFD'

venv/bin/fonttools varLib.instancer -q package/variable/InterVariable.woff2 wght=400:600 opsz=14 -o inter.ttf
venv/bin/pyftsubset inter.ttf --unicodes="$latin,$marks,$signs" --layout-features=kern,mark,mkmk,ccmp,locl,tnum \
  --flavor=woff2 --output-file=inter-latin.woff2
