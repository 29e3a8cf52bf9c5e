#!/bin/sh
# Creates a certificate authority (ca.crt) and a serving certificate of the webhook (tls.crt, tls.key) for the names and addresses
# at which the hub reaches the webhook.
#
#   ./certificate.sh [FOLDER] [NAME…]     default: pki localhost 127.0.0.1
set -eu
umask 077

folder=${1:-$(dirname "$0")/pki}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- localhost 127.0.0.1

names=
for name in "$@"; do
  case $name in
    *:*) kind=IP ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  names=${names:+$names,}$kind:$name
done

mkdir -p "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=interpreter-webhook-ca" \
  -keyout "$folder/ca.key" -out "$folder/ca.crt" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
  -keyout "$folder/tls.key" -out "$folder/tls.csr" 2>/dev/null
printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth\n' "$names" > "$folder/tls.ext"
openssl x509 -req -in "$folder/tls.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial -days 365 \
  -extfile "$folder/tls.ext" -out "$folder/tls.crt" 2>/dev/null
# The authority's key is deleted: a leaked key could sign another certificate for the webhook.
rm -f "$folder/ca.key" "$folder/tls.csr" "$folder/tls.ext" "$folder/ca.srl"
echo "made $folder/ca.crt, tls.crt and tls.key for $names"
