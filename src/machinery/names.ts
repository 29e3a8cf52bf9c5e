/**
 * Syntax of names, labels and annotations. Each check answers what is wrong in the words of Kubernetes, or undefined.
 * Lengths are checked first, so that no pattern runs over a hostile text.
 */
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

// Kubernetes counts bytes in both, but says so only of labels.
const tooLong = (limit: number): string => `must be no more than ${limit} bytes`;
const tooLongName = (limit: number): string => `must be no more than ${limit} characters`;

/** The length in UTF-8; a UTF-16 unit is at most three bytes, so only texts near the limit are measured exactly. */
function longerThan(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit);
}

/** What most kinds allow as `metadata.name`: `a.b-c`, at most 253 bytes. */
export function dnsSubdomainProblem(name: string): string | undefined {
  if (longerThan(name, 253)) return tooLongName(253);
  return name.split(".").every((part) => DNS_LABEL.test(part)) ? undefined : SUBDOMAIN_RULE;
}

/** Names of namespaces: `a-b`, at most 63 bytes. */
export function dnsLabelProblem(name: string): string | undefined {
  if (longerThan(name, 63)) return tooLongName(63);
  return DNS_LABEL.test(name) ? undefined : LABEL_RULE;
}

/** A DNS label that starts with a letter, as names of Services were. */
export function dns1035LabelProblem(name: string): string | undefined {
  if (longerThan(name, 63)) return tooLongName(63);
  return DNS_1035_LABEL.test(name) ? undefined : DNS_1035_RULE;
}

/** What a path segment allows: names of RBAC kinds, which may contain `:`. */
export function pathSegmentProblem(name: string): string | undefined {
  if (name === "." || name === "..") return `may not be '${name}'`;
  const illegal = ["/", "%"].find((character) => name.includes(character));
  return illegal ? `may not contain '${illegal}'` : undefined;
}

/** Keys that were found to be fine: the same few are on every object of a fleet. Emptied when it is full. */
const goodKeys = new Set<string>();
const MAX_GOOD_KEYS = 2000;

/** `prefix/name` of labels, annotations and finalizers; the prefix is a DNS subdomain. */
export function labelKeyProblem(key: string): string | undefined {
  if (goodKeys.has(key)) return undefined;
  const problem = findKeyProblem(key);
  if (problem === undefined) {
    if (goodKeys.size >= MAX_GOOD_KEYS) goodKeys.clear();
    goodKeys.add(key);
  }
  return problem;
}

function findKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  if (slash === 0) return "prefix part must be non-empty";
  if (slash > 0) {
    if (name.includes("/")) return `a qualified name ${NAME_PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
    const problem = dnsSubdomainProblem(key.slice(0, slash));
    if (problem) return `prefix part ${problem}`;
  }
  if (name === "") return "name part must be non-empty";
  if (longerThan(name, 63)) return `name part ${tooLong(63)}`;
  return NAME_PART.test(name) ? undefined : `name part ${NAME_PART_RULE}`;
}

/** Annotation keys are checked as labels are, in lower case. */
export function annotationKeyProblem(key: string): string | undefined {
  return labelKeyProblem(key.toLowerCase());
}

export function labelValueProblem(value: string): string | undefined {
  if (longerThan(value, 63)) return tooLong(63);
  return value === "" || NAME_PART.test(value) ? undefined : LABEL_VALUE_RULE;
}

/** All annotations of an object together, keys and values. */
export const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The whole of an object's annotations: undefined when every key and the total size are fine. */
export function annotationsProblem(annotations: Readonly<Record<string, string>>): string | undefined {
  let total = 0;
  for (const [key, value] of Object.entries(annotations)) {
    const problem = annotationKeyProblem(key);
    if (problem) return `Invalid value: ${JSON.stringify(key)}: ${problem}`;
    total += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  return total > MAX_ANNOTATIONS_BYTES ? `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes` : undefined;
}
