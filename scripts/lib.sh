# Sourced by the scripts beside it: the repository's root, messages, and installing packages.

FENCELINE_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '\n== %s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  shift
  local line
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 1
}

is_installed() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" == installed ]]
}

# Prints those of the given packages that are not installed, on one line.
missing_packages() {
  local package missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  echo "${missing[*]}"
}

# ensure_packages PACKAGE… — installs what is missing of them, or ends the script saying what is
# missing, why it cannot be installed here and which command would do it.
ensure_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || die \
    "this is not a Debian system (no apt-get), so nothing can be installed from here." \
    "fenceline is built on Debian 12; it needs what these packages hold: $*"

  local missing
  missing="$(missing_packages "$@")"
  [[ -n "$missing" ]] || return 0

  if [[ " $missing " == *" libboost1.81-dev "* ]] && is_installed libboost1.74-dev; then
    die "libboost1.74-dev is installed and conflicts with libboost1.81-dev, which is needed." \
      "It is not removed without you; other projects may use it. To go on, run as root:" \
      "apt-get remove libboost1.74-dev && apt-get install $missing"
  fi

  local as_root=()
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null || [[ -t 0 && -x /usr/bin/sudo ]] || die \
      "these packages are missing: $missing" \
      "They cannot be installed: this is not root, and sudo is missing or asks for a password." \
      "Run as root: apt-get update && apt-get install -y $missing"
    as_root=(sudo)
  fi

  say "Installing $missing"
  # shellcheck disable=SC2086  # a list of words on purpose
  apt_get install $missing || {
    apt_get update && apt_get install $missing
  } || die "these packages could not be installed: $missing" \
    "apt-get said why, above; without a network it cannot fetch them." \
    "Run as root: apt-get update && apt-get install -y $missing"
}

# Uses as_root of its caller. The environment goes behind sudo, which would drop it.
apt_get() {
  local verb="$1"
  shift
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=300 "$verb" \
    $([[ "$verb" == install ]] && echo --no-install-recommends) "$@" </dev/null >&2
}

# ensure_groups GROUP… — the same for groups of scripts/packages.
ensure_groups() {
  local packages
  packages="$("$FENCELINE_ROOT/scripts/packages" "$@" | sort -u)"
  # shellcheck disable=SC2086
  ensure_packages $packages
}

# Whether what CMake looks for with FENCELINE_TESTS=ON is installed.
can_configure_tests() {
  [[ -z "$(missing_packages libgtest-dev libgmock-dev libfuse3-dev pkg-config)" ]]
}

# configure PRESET [CMAKE ARGUMENT…]
configure() {
  local preset="$1" log
  shift
  log="$(mktemp)"
  if ! (cd "$FENCELINE_ROOT" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# build PRESET TARGET… — on all cores, or with FENCELINE_JOBS jobs; one of ours needs up to 0.7 GB of
# memory.
build() {
  local preset="$1"
  shift
  (cd "$FENCELINE_ROOT" && cmake --build --preset "$preset" --parallel "${FENCELINE_JOBS:-$(nproc)}" --target "$@") >&2
}
