/** Validates signer names: `<domain>/<path>`. */
import { dnsLabelProblems, dnsSubdomainProblems, field, type FieldError } from "@flotilla/apimachinery";
/** The signer of requests that predate signer names; no longer accepted. */
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";

const MAX_DOMAIN = 253;
const MAX_NAME = MAX_DOMAIN + 1 + 253 + 63 + 1;

export function checkSignerName(at: string, name: string): FieldError[] {
  if (name === LEGACY_SIGNER)
    return [field.invalid(at, name, "the legacy signerName is not allowed via this API version")];
  if (name === "") return [field.required(at)];
  const [domain = "", path = "", ...more] = name.split("/");
  if (more.length > 0 || !name.includes("/"))
    return [field.invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const labels = domain.split(".");
  return [
    ...(domain.length > MAX_DOMAIN ? [field.tooLong(at, MAX_DOMAIN)] : []),
    ...checkLabels(at, domain, labels, dnsLabelProblems),
    ...(labels.length < 2
      ? [field.invalid(at, domain, "should be a domain with at least two segments separated by dots")]
      : []),
    ...checkLabels(at, path, path.split("."), dnsSubdomainProblems),
    ...(name.length > MAX_NAME ? [field.tooLong(at, MAX_NAME)] : []),
  ];
}

/** Reports only the first invalid label: the others would produce the same message. */
function checkLabels(
  at: string,
  part: string,
  labels: readonly string[],
  problemsOf: (label: string) => readonly string[],
): FieldError[] {
  for (const label of labels) {
    const problems = problemsOf(label);
    if (problems.length > 0)
      return problems.map((problem) =>
        field.invalid(at, part, `validating label ${JSON.stringify(label)}: ${problem}`),
      );
  }
  return [];
}
