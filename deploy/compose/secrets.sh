#!/bin/sh
# Makes the secrets of the compose files that are missing, each in a file of secrets/.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
# The containers run as other users, so files are readable; the folder is not.
chmod 700 secrets

make_secret() { # NAME COMMAND…
  [ -e "secrets/$1" ] && return
  file=secrets/$1
  shift
  "$@" >"$file.new"
  chmod 644 "$file.new"
  mv "$file.new" "$file"
  echo "made deploy/compose/$file"
}

credential_keys() { printf 'k1:%s\n' "$(openssl rand -base64 32)"; }
postgres_password() { openssl rand -hex 24; }
gemini_api_key() { printf '%s\n' "${GEMINI_API_KEY:-}"; }

make_secret credential-keys credential_keys
make_secret postgres-password postgres_password
make_secret gemini-api-key gemini_api_key
