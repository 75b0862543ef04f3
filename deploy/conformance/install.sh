# Sourced by scripts that need npm packages and a browser.

die() { echo "$*" >&2; exit 1; }

# install_packages installs the packages of a folder when its lock file changed.
install_packages() {
  cmp -s "$1/package-lock.json" "$1/node_modules/.installed" && return
  echo "installing npm packages"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || die "npm ci failed"
  cp "$1/package-lock.json" "$1/node_modules/.installed"
}

# install_browser installs Chromium where there is no browser and apt-get may do so:
# install_browser LOG. Where it may not, chromium.mjs says what is missing.
install_browser() {
  local name
  for name in ${CHROMIUM:-} chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v "$name" >/dev/null && return
  done
  [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null || return 0
  echo "installing chromium"
  { apt-get update && apt-get install -y --no-install-recommends chromium; } >"$1" 2>&1 || die "apt-get cannot install chromium: $(tail -5 "$1")"
}
