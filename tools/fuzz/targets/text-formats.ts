/** Text formats: YAML, selectors, quantities, JSON paths, patterns, Accept headers, paths, kubeconfigs. */
import { acceptedType, failureFormat, representationOf, routeOf, splitCluster } from "@flotilla/apiserver";
import { equalJson, UsageError } from "@flotilla/base";
import { connectionOf, parseKubeconfig } from "@flotilla/client";
import {
  addQuantities,
  ApiError,
  compareQuantities,
  compileJsonPath,
  compilePattern,
  findDuplicateKeys,
  formatLabelSelector,
  formatQuantity,
  formatYaml,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  parseQuantity,
  parseYaml,
  parseYamlBody,
  parseYamlDocuments,
  PatternError,
  PatternWorkError,
  quantityMilliValue,
  quantityValue,
  readRepeatedKeys,
} from "@flotilla/apimachinery";
import { search } from "@flotilla/cel";
import type { Chance } from "../chance.ts";
import { deployment, objects } from "../corpus.ts";
import { mutateJson, mutateText } from "../mutate.ts";
import { defineTarget } from "../target.ts";

const isApiError = (error: unknown): boolean => error instanceof ApiError && error.status.code < 500;

const YAML_WORDS = [
  "&a ",
  "*a",
  "<<: ",
  "<<: *a\n",
  "- ",
  "? ",
  ": ",
  "|\n",
  ">-\n ",
  "!!binary ",
  "!!float ",
  "---\n",
  "...\n",
  "%YAML 1.2\n",
  "{",
  "}",
  "[",
  "]",
  "~",
  "yes",
  "0o17",
  "017",
  "0x1f",
  ".inf",
  ".nan",
  "12:30:00",
  "2001-01-01",
  "\t",
  "# x\n",
  '"\\u0000"',
  "__proto__: ",
  "? [a]\n: ",
];
const YAML_TEXTS = [
  ...objects.map((object) => formatYaml(object)),
  "a: &a [1, 2]\nb: *a\nc: {<<: {x: 1}, y: *a}\n",
  "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n",
  "text: |\n  a\n  b\nfolded: >-\n  c\n  d\n? complex\n: value\n",
  "base: &base {a: 1}\nx: {<<: *base, b: 2}\ny: {<<: [*base, *base]}\n",
];

export const yaml = defineTarget({
  name: "yaml",
  generate: (chance) => mutateText(chance, chance.pick(YAML_TEXTS), YAML_WORDS),
  declares: isApiError,
  run(text) {
    const value = parseYaml(text);
    if (JSON.stringify(value) === undefined) return "the value is not JSON";
    if (!equalJson(parseYaml(formatYaml(value)), value)) return "written YAML is read differently";
    if (!equalJson(parseYamlBody(text).value, value)) return "a body is read differently";
    parseYamlDocuments(text);
    return undefined;
  },
});

const JSON_TEXTS = objects.map((object) => JSON.stringify(object));
const JSON_WORDS = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"a":1,',
  '"a":{"b":1},"a":{"c":2},',
  '"\\u0061"',
  "\\ud800",
  "1e400",
  "-0",
  "null",
  "\\",
  '"__proto__":{"x":1},',
];

export const json = defineTarget({
  name: "json-keys",
  generate: (chance) => mutateText(chance, chance.pick(JSON_TEXTS), JSON_WORDS),
  declares: (error) => error instanceof SyntaxError || isApiError(error),
  run(text) {
    const value: unknown = JSON.parse(text);
    const duplicates = findDuplicateKeys(text);
    const read = readRepeatedKeys(text);
    if (duplicates.length === 0 && !equalJson(read, value)) return "a text without duplicate keys is read differently";
    return undefined;
  },
});

const SELECTORS = [
  "a=b,c!=d",
  "x in (a,b),y notin (c)",
  "app.kubernetes.io/name==web,!gone",
  "n>5,m<10",
  "a in (,)",
  "tier,!x",
  "",
];
const LABELS = { a: "b", x: "a", n: "7", "app.kubernetes.io/name": "web", tier: "" };

export const labelSelector = defineTarget({
  name: "label-selector",
  generate: (chance) =>
    mutateText(chance, chance.pick(SELECTORS), [" in ", " notin ", "(", ")", ",", "=", "==", "!=", "!", ">", "<"]),
  declares: isApiError,
  run(text) {
    const selector = parseLabelSelector(text);
    const again = parseLabelSelector(formatLabelSelector(selector));
    return matchesLabels(selector, LABELS) === matchesLabels(again, LABELS)
      ? undefined
      : "the written selector has another meaning";
  },
});

export const fieldSelector = defineTarget({
  name: "field-selector",
  generate: (chance) =>
    mutateText(
      chance,
      chance.pick(["metadata.name=a", "a!=b,c==d", "x=a\\,b\\=c\\\\d", "status.phase=Running,spec.nodeName!="]),
      ["\\", ",", "=", "!=", "=="],
    ),
  declares: isApiError,
  run(text) {
    const requirements = parseFieldSelector(text);
    const written = requirements
      .map(({ path, op, value }) => `${path}${op}${value.replaceAll(/[\\,=]/g, "\\$&")}`)
      .join(",");
    // Terms are ordered by their text, which escapes change.
    const inOrder = (found: typeof requirements): string[] =>
      found.map((requirement) => JSON.stringify(requirement)).sort();
    return equalJson(inOrder(parseFieldSelector(written)), inOrder(requirements))
      ? undefined
      : `read differently once written: ${written}`;
  },
});

const QUANTITIES = [
  "100m",
  "1.5Gi",
  "12e6",
  "0",
  "-1",
  "+.5",
  "1Ei",
  "9223372036854775807",
  "1e-9",
  "0.000000001",
  "123456789012345678901234567890E",
];

export const quantity = defineTarget({
  name: "quantity",
  boundMs: 50,
  generate: (chance) =>
    [0, 1].map(() =>
      mutateText(chance, chance.pick(QUANTITIES), [
        "Ki",
        "Mi",
        "E",
        "e",
        "e999",
        "n",
        "u",
        "m",
        ".",
        "-",
        "0",
        "9".repeat(60),
      ]),
    ),
  declares: isApiError,
  run([first = "", second = ""]) {
    const quantity = parseQuantity(first);
    const text = formatQuantity(quantity);
    const again = parseQuantity(text);
    if (compareQuantities(again, quantity) !== 0) return `written as ${text} it is another amount`;
    if (formatQuantity(again) !== text) return `its canonical form ${text} is not stable`;
    quantityMilliValue(quantity);
    const sum = addQuantities(quantity, parseQuantity(second));
    // Binary amounts beyond 64 bits are truncated when they are read, and a sum of two may exceed them.
    if (sum.format === "BinarySI" && BigInt.asIntN(64, quantityValue(sum)) !== quantityValue(sum)) return undefined;
    return compareQuantities(parseQuantity(formatQuantity(sum)), sum) === 0
      ? undefined
      : "a written sum is another amount";
  },
});

const PATHS = [
  ".spec.replicas",
  ".metadata.labels['a\\.b']",
  '.status.conditions[?(@.type=="Ready")].status',
  ".spec.containers[*].image",
  ".a[-1][0:2]",
  "{.items[0]}",
  "$.x.y",
  ".spec.template.spec.containers[?(@.name)].ports[?(@.containerPort>=80)]",
];

export const jsonPath = defineTarget({
  name: "json-path",
  generate: (chance) => ({
    path: mutateText(chance, chance.pick(PATHS), [
      "[",
      "]",
      "..",
      ".",
      "*",
      "[*]",
      "[?(",
      ")]",
      "@",
      "'",
      '"',
      "\\",
      "==",
      "<",
      "[?(@[?(@.a)])]",
    ]),
    object: mutateJson(chance, deployment, objects),
  }),
  declares: isApiError,
  run({ path, object }) {
    const found = compileJsonPath(path)(object);
    return found.every((value) => value !== undefined && typeof value !== "function")
      ? undefined
      : "a path resolved to a value that is not JSON";
  },
});

const PATTERNS = [
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
  "(a+)+$",
  "(a|aa)+$",
  "^(([0-9]{1,3})\\.){3}[0-9]{1,3}$",
  "\\bfoo\\B|\\d+\\pL",
  "(?i)x{0,10}y*?",
  "[^\\]a-f\\w]",
  "(?P<n>a)(?:b|c){2,5}",
  "^$|\\A\\z",
  "[[:alpha:]]+",
];
const PATTERN_WORDS = [
  "(",
  ")",
  "[",
  "]",
  "{1000}",
  "{2,}",
  "*",
  "+",
  "?",
  "|",
  "^",
  "$",
  "\\",
  "(?i)",
  "(?:",
  "[^",
  "-",
  "\\pL",
  "\\x{10FFFF}",
  "\\Q",
  "\\E",
  ".",
  "[[:word:]]",
  "{0,1000}",
  "(?s).",
];

/** Go's and JavaScript's engines agree only on patterns of these. */
const PLAIN = /^(?:[a-z0-9]|\[\^?[a-z0-9]+\]|\(\?:|\((?!\?)|\)|\||[*+?](?![*+?{]))*$/;

export const pattern = defineTarget({
  name: "pattern",
  boundMs: 1000,
  generate: (chance) =>
    chance.oneIn(8)
      ? largeRepeats(chance)
      : { pattern: mutateText(chance, chance.pick(PATTERNS), PATTERN_WORDS).slice(0, 300), text: textFor(chance) },
  declares: (error) => error instanceof PatternError || error instanceof PatternWorkError,
  run({ pattern: source, text }) {
    const found = compilePattern(source).test(text);
    const finder = search(source, () => compilePattern(source));
    if (!("find" in finder)) return `the two engines disagree on whether the pattern is valid: ${finder.message}`;
    const sample = text.slice(0, 200);
    if ((finder.find(sample, 0) !== undefined) !== compilePattern(source).test(sample))
      return "the two engines disagree";
    if (
      PLAIN.test(source) &&
      source.length < 20 &&
      new RegExp(source, "u").test(text.slice(0, 20)) !== compilePattern(source).test(text.slice(0, 20))
    )
      return "JavaScript finds another match";
    return typeof found === "boolean" ? undefined : "no answer";
  },
});

/** Patterns with large, always different state sets, with texts on which that shows. */
function largeRepeats(chance: Chance): { pattern: string; text: string } {
  const part = (): string =>
    chance.pick(["[ab]*a", "(a|b)*b", "a?", "(?:ab|ba)*", "\\b[ab ]*a", ""]) +
    `${chance.pick(["[ab]", ".", "(a|b)", "a?", "\\w", "(?i)[A-B]"])}{${chance.pick(["", "", "0,", "1,"])}` +
    `${chance.oneIn(2) ? 1 + chance.below(1000) : chance.size(100)}}`;
  const parts = chance.list(1 + chance.below(3), part).join("");
  const pattern = chance.oneIn(4) ? `(${parts}){${chance.size(20)}}` : parts;
  const text = chance
    .list(chance.below(chance.oneIn(20) ? 100_000 : 3000), () => chance.pick(["a", "b", "a", "b", "b a"]))
    .join("");
  return {
    pattern: `${chance.pick(["^", ""])}${pattern}${chance.pick(["$", ""])}`,
    text: text + chance.pick(["", "c"]),
  };
}

function textFor(chance: Chance): string {
  return mutateText(
    chance,
    chance.pick(["a".repeat(1 + chance.size(5000)), "web-1", "10.0.0.1", "foo bar_9", "ΑΒγ é", "xyyyyy\n"]),
  ).slice(0, 5000);
}

const ACCEPTS = [
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  "application/yaml;q=0.5, */*",
  "application/vnd.kubernetes.protobuf,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1",
  "text/html, application/xhtml+xml, */*;q=0.8",
];

export const accept = defineTarget({
  name: "accept",
  generate: (chance) =>
    mutateText(chance, chance.pick(ACCEPTS), [",", ";", "=", "q=", "as=", "q=-1", "q=1e9", "*/*", "application/"]),
  declares: isApiError,
  run(text) {
    failureFormat(text);
    acceptedType(text, ["application/json", "text/plain"]);
    const { format, as } = representationOf({ accept: text, "user-agent": "" }, new URLSearchParams(), {
      table: true,
      protobuf: true,
      protobufMetadata: true,
    });
    return ["json", "yaml", "protobuf"].includes(format) &&
      ["object", "table", "metadata", "metadata-list"].includes(as)
      ? undefined
      : "an unknown representation";
  },
});

const URL_PATHS = [
  "/api/v1/namespaces/a/pods/b/log",
  "/apis/apps/v1/deployments",
  "/clusters/paris/api/v1/nodes/n/proxy/x/y",
  "/openapi/v3/apis/apps/v1",
  "/healthz",
  "/api/v1/watch/pods",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab",
  "/",
];

export const paths = defineTarget({
  name: "path",
  generate: (chance) =>
    mutateText(chance, chance.pick(URL_PATHS), [
      "/",
      "//",
      "..",
      "/../",
      "%2f",
      "%2F",
      "%",
      "%zz",
      "%00",
      "%c0%af",
      "%E0%A4%A",
      "clusters/",
      "namespaces/",
      "watch/",
      "?",
      "#",
      ";",
      "\\",
    ]),
  declares: isApiError,
  run(text) {
    const { cluster, path } = splitCluster(text);
    const route = routeOf(path);
    const named =
      route.type === "resource"
        ? [route.namespace, route.name, route.resource, route.subresource, route.group, route.version]
        : [];
    return [cluster, ...named].some((part) => part?.includes("/"))
      ? "a name contains a slash, which would change the key"
      : undefined;
  },
});

const KUBECONFIG = formatYaml({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "a",
  contexts: [{ name: "a", context: { cluster: "a", user: "a", namespace: "shop" } }],
  clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": "YQ==" } }],
  users: [{ name: "a", user: { token: "t" } }],
});

export const kubeconfig = defineTarget({
  name: "kubeconfig",
  generate: (chance) =>
    mutateText(chance, KUBECONFIG, [
      ...YAML_WORDS,
      "exec:",
      "server: ",
      "http://",
      "insecure-skip-tls-verify: true\n",
      "tokenFile: /dev/null\n",
    ]),
  declares: (error) => error instanceof UsageError,
  async run(text) {
    const { server } = await connectionOf(parseKubeconfig(text));
    return server instanceof URL ? undefined : "no server";
  },
});
