#!/usr/bin/env bash
# Packs what make build-all has built: an archive for each platform with its list of parts
# (CycloneDX), and the checksums of all, in DIST (dist). release.sh VERSION PLATFORM…
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
shift
dist=${DIST:-$PWD/dist}
out=$dist/release
rm -rf "$out" && mkdir -p "$out" bin/tools
(cd deploy/packaging && go build -o ../../bin/tools/ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod)

# pack makes the archive of one platform. The same commit gives the same bytes.
pack() { # OS-ARCH
  local name=agent-stop-and-go-$version-$1
  local dir
  dir=$(mktemp -d)
  mkdir "$dir/$name" "$dir/$name/sbom"
  cp -r "$dist/$1"/* config/agent.yaml config/web.yaml config/agent.schema.json config/examples README.md deploy/CHANGELOG.md "$dir/$name"
  [[ $1 == linux-* ]] && cp -r deploy/systemd "$dir/$name"
  for binary in "$dist/$1"/*; do
    bin/tools/cyclonedx-gomod bin -json -std -noserial -notimestamp -output "$dir/$name/sbom/${binary##*/}.cdx.json" "$binary" 2>/dev/null
  done
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$dir" -cf - "$name" |
    gzip -n >"$out/$name.tar.gz"
  rm -rf "$dir"
}

for platform in "$@"; do
  pack "${platform/\//-}"
done
cd "$out"
sha256sum -- *.tar.gz >SHA256SUMS
sha256sum --check --quiet SHA256SUMS
ls -l
