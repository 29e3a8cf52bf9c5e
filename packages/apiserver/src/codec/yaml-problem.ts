/** How the YAML decoder of kube-apiserver words duplicate keys. */
const YAML_PREFIXES = ["yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"];

/** The YAML decoder reports all keys at once; a warning is about one of them. */
export function yamlLines(problem: string): string[] {
  const prefix = YAML_PREFIXES.find((start) => problem.startsWith(start));
  return prefix === undefined
    ? [problem]
    : problem
        .slice(prefix.length)
        .split("\n")
        .map((line) => line.trim());
}

/** The YAML decoder's message for duplicate keys. */
export function yamlProblem(repeated: readonly string[]): string {
  return `${YAML_PREFIXES[0]}${repeated.map((line) => `  ${line}`).join("\n")}`;
}
