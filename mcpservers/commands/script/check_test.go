package script_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/commands/script"
)

var values = map[string]bool{"ARG_X": true, "ARG_X_JSON": true, "ARG_L_0": true}

func TestScriptsThatReadAValueAsCodeAreRefused(t *testing.T) {
	for source, want := range map[string]string{
		`eval "ls $ARG_X"`:                             "eval reads a value as code",
		`cmd="ls"; cmd+=" $ARG_X"; eval $cmd`:          "eval reads a value as code",
		`bash -c "$ARG_X"`:                             "bash -c reads a value as code",
		`sudo -u x bash -c "$ARG_X"`:                   "bash -c reads a value as code",
		`env A=b python3 -c "print('$ARG_X')"`:         "python3 -c reads a value as code",
		`python3 "$ARG_X"`:                             "python3 runs the file that a value names",
		`python3.11 "$ARG_X"`:                          "python3.11 runs the file that a value names",
		`tcsh "$ARG_X"`:                                "tcsh runs the file that a value names",
		`sudo ash "$ARG_X"`:                            "ash runs the file that a value names",
		`docker exec c sh -c "$ARG_X"`:                 "a shell reads a value as code",
		`prog bash -xc "$ARG_X"`:                       "a shell reads a value as code",
		`find . -exec "$ARG_X" \;`:                     "a value becomes the program",
		`find . -name a -exec ls \; -exec "$ARG_X" \;`: "a value becomes the program",
		`docker exec c "$ARG_X"`:                       "a value becomes the program",
		`sudo -u me "$ARG_X"`:                          "a value becomes the program",
		`flock f "$ARG_X"`:                             "a value becomes the program",
		`docker exec c python3 "$ARG_X"`:               "python3 runs the file",
		`kubectl exec p -- awk "$ARG_X"`:               "awk reads a value as a program",
		`find . -exec bash "$ARG_X" \;`:                "bash runs the file",
		`source "$ARG_X"`:                              "source reads a value as code",
		`. "$ARG_X"`:                                   ". reads a value as code",
		`trap "echo $ARG_X" EXIT`:                      "trap reads a value as code",
		`ssh host "ls $ARG_X"`:                         "ssh reads a value as code",
		`a=("$ARG_X"); "${a[@]}"`:                      "a value is the name of a command",
		`a=(); a+=("$ARG_X" b); "${a[@]}"`:             "a value is the name of a command",
		`a=(ls); a[0]="$ARG_X"; "${a[@]}"`:             "a value is the name of a command",
		`mapfile -t a <<<"$ARG_X"; "${a[@]}"`:          "a value is the name of a command",
		`a=(bash -c "$ARG_X"); "${a[@]}"`:              "bash -c reads a value as code",
		`if x; then a=(ls); else a=(bash); fi; a+=(-c "$ARG_X"); "${a[@]}"`: "bash -c reads a value as code",
		`a=(sudo); a+=("$ARG_X"); "${a[@]}"`:                                "a value is the name of a command",
		`b=("$ARG_X"); a=(find . -exec "${b[@]}" ls); "${a[@]}"`:            "a value becomes the program",
		`a=(-c "$ARG_X"); bash "${a[@]}"`:                                   "bash -c reads a value as code",
		`a=("${a[@]}" bash); a+=(-c "$ARG_X"); "${a[@]}"`:                   "bash -c reads a value as code",
		`declare -A m=([a]=1); echo $(( m[$ARG_X] ))`:                       "computes",
		`"$ARG_X" now`:                                    "a value is the name of a command",
		`command "$ARG_X"`:                                "a value is the name of a command",
		`ls $ARG_X`:                                       "without quotes",
		`for f in $ARG_X; do :; done`:                     "without quotes",
		`y=$ARG_X; ls $y`:                                 "without quotes",
		`a=("$ARG_X"); ls ${a[0]}`:                        "without quotes",
		`ls $(echo "$ARG_X")`:                             "without quotes",
		`f() { ls $1; }; f "$ARG_X"`:                      "without quotes",
		`f() { eval "$*"; }; f "$ARG_X"`:                  "eval reads a value as code",
		`set -- "$ARG_X"; eval "$1"`:                      "eval reads a value as code",
		`printf -v y %s "$ARG_X"; eval "$y"`:              "eval reads a value as code",
		`echo x > $ARG_X`:                                 "without quotes",
		`echo $((ARG_X))`:                                 "computes",
		`echo $(( $ARG_X + 1 ))`:                          "computes",
		`((ARG_X > 1))`:                                   "computes",
		`let "y = $ARG_X"`:                                "computes",
		`[[ $ARG_X -eq 1 ]]`:                              "compares it as a number",
		`[[ ARG_X -gt 1 ]]`:                               "compares it as a number",
		`a=(1 2); echo "${a[$ARG_X]}"`:                    "computes",
		`echo "${y:$ARG_X:1}"`:                            "computes",
		`a[$ARG_X]=1`:                                     "computes",
		`echo "${!ARG_X}"`:                                "a value is the name of a variable",
		`declare "$ARG_X"`:                                "declare takes a value",
		`unset "$ARG_X"`:                                  "unset takes a value",
		`[[ -v $ARG_X ]]`:                                 "a value is the name of a variable",
		`echo "${ARG_X@P}"`:                               "@P runs the commands",
		`printf "$ARG_X"`:                                 "reads a value as a format",
		`sed "s/x/$ARG_X/" file`:                          "sed reads a value as a program",
		`sed -e "s/x/$ARG_X/" file`:                       "sed reads a value as a program",
		`awk "/$ARG_X/" file`:                             "awk reads a value as a program",
		`[ -v "$ARG_X" ]`:                                 "-v runs commands",
		`n="ARG_X_12"; eval "${!n}"`:                      "eval reads a value as code",
		`eval "$ARG_X_12"`:                                "eval reads a value as code",
		`while read -r y; do eval "$y"; done <<<"$ARG_X"`: "eval reads a value as code",
	} {
		faults, err := script.Check(source, false, values)
		if err != nil || len(faults) == 0 || !strings.Contains(faults[0].Text, want) && !strings.Contains(faults[len(faults)-1].Text, want) {
			t.Errorf("%s: %v %v, want %s", source, faults, err, want)
		}
	}
}

func TestScriptsThatTreatAValueAsTextAreAccepted(t *testing.T) {
	for _, source := range []string{
		`echo "$ARG_X" 'x'`, `y=$ARG_X; echo "$y"`, `[[ $ARG_X == a* ]]`, `[ "$ARG_X" -eq 1 ]`, `case $ARG_X in a) :;; esac`,
		`a=(); a+=("$ARG_X"); gh "${a[@]}"`, `cat <<EOF
$ARG_X
EOF`, `cat <<<"$ARG_X"`, `grep -- "$ARG_X" f`, `echo "${#ARG_X}"`, `awk -v "x=$ARG_X" '{print x}'`, `jq --arg x "$ARG_X" '.x = $x'`,
		`python3 -c 'import sys; print(sys.argv[1])' x`, `for i in 1 2; do n="ARG_L_$i"; echo "${!n}"; done`, `echo $(date)`, `n=3; echo $((n + 1)) $n`,
		`docker exec "$c" ls "$ARG_X"`, `docker exec -i c psql -v "v=$ARG_X"`, `env "A=$ARG_X" ls`, `find "$ARG_X" -name "$ARG_X"`, `timeout "$n" ls "$ARG_X"`,
		`declare -A m=([a]=1); echo "${m[$ARG_X]}"; m[$ARG_X]=2`, `a=(gh); if x; then a+=("$ARG_X"); fi; "${a[@]}" | cat`, `a=(-n "$ARG_X"); gh "${a[@]}"`,
		`a=(gh); a+=("$ARG_X"); timeout 60 "${a[@]}"`, `kubectl exec "$ARG_X" -- ls`, `find . -exec grep "$ARG_X" {} \;`, `docker logs "$ARG_X"`,
		`if [ -n "$ARG_X" ]; then echo "$(printf '%s' "$ARG_X")"; fi`, `trap 'rm -f "$f"' EXIT`,
	} {
		if faults, err := script.Check(source, false, values); err != nil || len(faults) > 0 {
			t.Errorf("%s: %+v %v", source, faults, err)
		}
	}
}

func TestFaultsHaveTheirLines(t *testing.T) {
	faults, err := script.Check("true\nls $ARG_X\n", false, values)
	if err != nil || len(faults) != 1 || faults[0].Line != 2 || !faults[0].Quote {
		t.Errorf("%+v %v", faults, err)
	}
	if _, err := script.Check("true\nif x; then\n", false, nil); err == nil || !strings.Contains(err.Error(), "2:") {
		t.Errorf("%v", err)
	}
}
