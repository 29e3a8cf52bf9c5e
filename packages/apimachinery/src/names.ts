/**
 * Syntax of names, labels and annotations. `…Problems` returns all errors, in Kubernetes' wording, because a field
 * error reports each; `…Problem` returns the first, or undefined.
 *
 * Every pattern runs in linear time on any text.
 */
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const DATA_KEY = /^[-._a-zA-Z0-9]+$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " +
  "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start " +
  "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic " +
  "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for " +
  "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must " +
  "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used " +
  "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const DATA_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

type Problems = readonly string[];
const FINE: Problems = [];

// Kubernetes counts bytes in both, but mentions it only for labels.
const tooLong = (limit: number): string => `must be no more than ${limit} bytes`;
const tooLongName = (limit: number): string => `must be no more than ${limit} characters`;

/** The length in UTF-8; a UTF-16 unit is at most three bytes, so only strings near the limit are measured exactly. */
function longerThan(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit);
}

/** The two errors that most rules have, in Kubernetes' order. */
function problems(length: string | undefined, rule: string | undefined): Problems {
  if (length === undefined) return rule === undefined ? FINE : [rule];
  return rule === undefined ? [length] : [length, rule];
}

const isSubdomain = (name: string): boolean => name.split(".").every((part) => DNS_LABEL.test(part));

/** The syntax of `metadata.name` for most kinds: `a.b-c`, at most 253 bytes. */
export function dnsSubdomainProblems(name: string): Problems {
  return problems(longerThan(name, 253) ? tooLongName(253) : undefined, isSubdomain(name) ? undefined : SUBDOMAIN_RULE);
}

/** Namespace names: `a-b`, at most 63 bytes. */
export function dnsLabelProblems(name: string): Problems {
  const rule = DNS_LABEL.test(name) ? undefined : isSubdomain(name) ? "must not contain dots" : LABEL_RULE;
  return problems(longerThan(name, 63) ? tooLongName(63) : undefined, rule);
}

/** A DNS label that starts with a letter, as Service names used to require. */
export function dns1035LabelProblems(name: string): Problems {
  return problems(
    longerThan(name, 63) ? tooLongName(63) : undefined,
    DNS_1035_LABEL.test(name) ? undefined : DNS_1035_RULE,
  );
}

/** The syntax of a path segment: names of RBAC kinds, which may contain `:`. */
export function pathSegmentProblems(name: string): Problems {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** Keys of ConfigMaps and Secrets, which become file names. */
export function dataKeyProblems(key: string): Problems {
  const found = problems(
    longerThan(key, 253) ? tooLongName(253) : undefined,
    DATA_KEY.test(key) ? undefined : DATA_KEY_RULE,
  );
  if (!key.startsWith(".")) return found;
  if (key === "." || key === "..") return [...found, `must not be '${key}'`];
  return key.startsWith("..") ? [...found, "must not start with '..'"] : found;
}

/** Cache of valid keys: the same few are on every object of a fleet. Cleared when it is full. */
const goodKeys = new Set<string>();
const MAX_GOOD_KEYS = 2000;

/** `prefix/name` of labels, annotations and finalizers; the prefix is a DNS subdomain. */
export function labelKeyProblems(key: string): Problems {
  if (goodKeys.has(key)) return FINE;
  const found = findKeyProblems(key);
  if (found.length === 0) {
    if (goodKeys.size >= MAX_GOOD_KEYS) goodKeys.clear();
    goodKeys.add(key);
  }
  return found;
}

function findKeyProblems(key: string): Problems {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  if (slash >= 0 && name.includes("/"))
    return [
      `a valid label key ${NAME_PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const found: string[] = [];
  if (slash === 0) found.push("prefix part must be non-empty");
  if (slash > 0) {
    const prefix = key.slice(0, slash);
    if (longerThan(prefix, 253)) found.push(`prefix part ${tooLong(253)}`);
    if (!isSubdomain(prefix)) found.push(`prefix part ${SUBDOMAIN_RULE}`);
  }
  if (name === "") found.push("name part must be non-empty");
  else if (longerThan(name, 63)) found.push(`name part ${tooLong(63)}`);
  if (!NAME_PART.test(name)) found.push(`name part ${NAME_PART_RULE}`);
  return found;
}

/** Annotation keys are validated like label keys, in lower case. */
export function annotationKeyProblems(key: string): Problems {
  return goodKeys.has(key) ? FINE : labelKeyProblems(key.toLowerCase());
}

export function labelValueProblems(value: string): Problems {
  return problems(
    longerThan(value, 63) ? tooLong(63) : undefined,
    value === "" || NAME_PART.test(value) ? undefined : LABEL_VALUE_RULE,
  );
}

/** The limit for all annotations of an object, keys and values. */
export const MAX_ANNOTATIONS_BYTES = 256 * 1024;

export function annotationsAreTooLong(annotations: Readonly<Record<string, string>>): boolean {
  let total = 0;
  for (const key in annotations) total += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? "");
  return total > MAX_ANNOTATIONS_BYTES;
}

/** What a client that applies on its own side sent last. */
export const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
/** The logical cluster of a request: an annotation of its audit event, and an extra value for authorization webhooks. */
export const CLUSTER_NAME_KEY = "flotilla.dev/cluster";
/** Blocks deletion of a logical cluster until everything in it is removed. */
export const LOGICAL_CLUSTER_FINALIZER = "flotilla.dev/contents";
