#!/bin/sh
# The pipeline of a repository of flows. Needs WEIR_URL, WEIR_PROJECT (org/project) and WEIR_API_KEY, a key of that
# project with the scope deploy, and the command weir.
set -eu
cd "$(dirname "$0")"

usage() {
  echo "usage: pipeline.sh test | deploy | check | roll-back <flow> <version>" >&2
  exit 2
}

command -v weir >/dev/null || {
  echo "The command weir is missing: clone the repository of Weir, and run npm ci and npm link there." >&2
  exit 1
}

case "${1:-}" in
  # Tests the flows on drafts of a project for tests, which hold what the last pipeline left: hence --force.
  test)
    weir flow push --force flows
    weir test flows --junit results.xml
    ;;
  # Pushes, tests, publishes and promotes the flows. It stops where somebody else has edited a draft, or a test fails;
  # callers keep their version. Begun again, it does what is left.
  deploy)
    weir flow push flows
    weir test flows --junit results.xml
    weir flow publish flows --note "$(git log -1 --format='%h %s')"
    weir flow promote flows
    ;;
  # Fails when a draft is no longer what the files say.
  check)
    weir flow push --check flows
    ;;
  # Makes callers run an earlier version: pipeline.sh roll-back word-count 3
  roll-back)
    [ $# -eq 3 ] || usage
    weir flow promote "$WEIR_PROJECT/$2" --version "$3"
    ;;
  *)
    usage
    ;;
esac
