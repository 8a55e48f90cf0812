#!/bin/sh
# Cut the book's typefaces and the formulas' font out of the files that README.md here and in ../math
# name. Give the folder that holds them; needs fonttools and brotli:   sh subset.sh FOLDER
set -eu
from=$1
cd "$(dirname "$0")"

text() {
  pyftsubset "$from/$1" --unicodes-file=book.unicodes.txt --layout-features="$3" \
    --no-hinting --flavor=woff2 --output-file="$2"
}

latin=latin-wght
shapes=kern,liga,ccmp,locl,mark
fonttools varLib.instancer "$from/source-sans-3-$latin-normal.woff2" wght=400:700 --no-recalc-timestamp \
  -o "$from/source-sans-3-axis.woff2"
fonttools varLib.instancer "$from/jetbrains-mono-$latin-normal.woff2" wght=400 --no-recalc-timestamp \
  -o "$from/jetbrains-mono-400.woff2"
text "stix-two-text-$latin-normal.woff2" stix-two-text.woff2 "$shapes"
text "stix-two-text-$latin-italic.woff2" stix-two-text-italic.woff2 "$shapes"
text source-sans-3-axis.woff2 interface.woff2 "$shapes,tnum"
python3 rename.py interface.woff2
text jetbrains-mono-400.woff2 jetbrains-mono.woff2 ccmp

for part in book rare; do
  pyftsubset "$from/STIXTwoMath-Regular.ttf" \
    --unicodes-file="../math/STIXTwoMath-$part.unicodes.txt" \
    --layout-features=ccmp,dtls,flac,ss01,ss04 --no-hinting \
    --name-IDs=0,1,2,3,4,5,6,7,13,14 --drop-tables+=DSIG \
    --flavor=woff2 --output-file="../math/STIXTwoMath-$part.woff2"
done
