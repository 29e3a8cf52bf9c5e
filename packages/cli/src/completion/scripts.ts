/**
 * The scripts with which shells call `flotilla __complete`. They only pass the words on and show the answer; `offer-completions.ts`
 * decides the candidates for all shells.
 */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * bash also splits words at `=` and `:`. The script joins them, and strips the part before the last split from the
 * candidates, because bash replaces only what follows it.
 */
const BASH = `# Completion of flotilla for bash 4.3 or newer: source <(flotilla completion bash)
_flotilla() {
  local rest=\${COMP_LINE:0:COMP_POINT} before word current="" directive cut index
  local -a words=() answer=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    before=\${rest%%[![:space:]]*}
    rest=\${rest#"$before"}
    word=\${COMP_WORDS[index]}
    if ((index == COMP_CWORD)); then word=\${word:0:\${#rest}}; fi
    if [[ $index -gt 0 && -z $before ]]; then
      current+=$word
    else
      if ((index > 0)); then words+=("$current"); fi
      current=$word
    fi
    rest=\${rest#"$word"}
  done
  words+=("$current")

  mapfile -t answer < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  [[ \${#answer[@]} -gt 0 ]] || return
  directive=\${answer[-1]#:}
  unset 'answer[-1]'
  COMPREPLY=()
  cut=\${current%"\${current##*[=:]}"}
  [[ $COMP_WORDBREAKS == *[=:]* ]] || cut=""
  for word in "\${answer[@]}"; do
    word=\${word%%$'\\t'*}
    if [[ $word == "$current"* ]]; then COMPREPLY+=("\${word#"$cut"}"); fi
  done
  if ((directive & 16)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "\${current#"$cut"}")
  elif ! ((directive & 4)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "\${current#"$cut"}")
  fi
  if ((directive & 2)); then compopt -o nospace; fi
}
complete -F _flotilla flotilla kubectl-flotilla
`;

const ZSH = `#compdef flotilla kubectl-flotilla
# Completion of flotilla for zsh: source <(flotilla completion zsh)
_flotilla() {
  local -a answer described
  local directive line value
  answer=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive=\${answer[-1]#:}
  [[ $directive == <-> ]] || return 1
  answer[-1]=()
  for line in "\${answer[@]}"; do
    value=\${line%%$'\\t'*}
    if [[ $line == *$'\\t'* ]]; then
      described+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    elif [[ -n $line ]]; then
      described+=("\${value//:/\\\\:}")
    fi
  done
  if ((directive & 16)); then
    compset -P '*='
    _files -/
  elif ! ((directive & 4)); then
    compset -P '*='
    _files
  elif ((directive & 2)); then
    _describe -V flotilla described -S ''
  else
    _describe -V flotilla described
  fi
}
if [[ $funcstack[1] == _flotilla ]]; then
  _flotilla "$@"
else
  compdef _flotilla flotilla kubectl-flotilla
fi
`;

const FISH = `# Completion of flotilla for fish: flotilla completion fish | source
function __flotilla_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    test (count $answer) -gt 0; or return
    set -l directive (string sub -s 2 -- $answer[-1])
    switch $directive
        case 0
            __fish_complete_path "$current"
        case 16
            __fish_complete_directories "$current" ''
        case '*'
            test (count $answer) -gt 1; and printf '%s\\n' $answer[1..-2]
    end
end
complete -c flotilla -f -k -a '(__flotilla_complete)'
complete -c kubectl-flotilla -f -k -a '(__flotilla_complete)'
`;

/**
 * PowerShell drops empty arguments of programs before 7.3, so an unstarted word is passed as a quoted one there. Without
 * a result it completes files itself; an empty result prevents that.
 */
const POWERSHELL = `# Completion of flotilla for PowerShell: flotilla completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName flotilla, kubectl-flotilla -ScriptBlock {
    param($current, $ast, $position)
    $words = @(foreach ($element in $ast.CommandElements) {
        $start = $element.Extent.StartOffset
        if ($start -ge $position) { break }
        if ($element.Extent.EndOffset -gt $position) { $element.Extent.Text.Substring(0, $position - $start) }
        elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $element.Value }
        else { $element.Extent.Text }
    })
    $program, $words = $words
    $words = @($words)
    if ($current -eq '') {
        $passesEmpty = $PSVersionTable.PSVersion -ge [version]'7.3.0' -and "$PSNativeCommandArgumentPassing" -ne 'Legacy'
        $words += if ($passesEmpty) { '' } else { '""' }
    }
    $answer = @(& $program __complete @words 2>$null)
    if ($answer.Count -eq 0) { return }
    $directive = [int]$answer[-1].TrimStart(':')
    if (($directive -band 16) -or -not ($directive -band 4)) { return }
    $results = @(foreach ($line in $answer | Select-Object -SkipLast 1) {
        $value, $description = $line -split "\`t", 2
        if ($value -eq '' -or -not $value.StartsWith($current)) { continue }
        if (-not $description) { $description = $value }
        $text = if ($value -match '[^a-zA-Z0-9_./:=@+-]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    })
    if ($results.Count -eq 0) { '' } else { $results }
}
`;

export const scripts: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
