/**
 * The configuration of authentication (`apiserver.config.k8s.io` AuthenticationConfiguration, v1 and v1beta1): identity
 * providers, and which requests may be anonymous. It may change while the server runs.
 */
import { ConfigurationError, field, fieldErrorText, readConfiguration, s } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { compileClaimRules } from "./claims-to-user.ts";
import type { ClaimRules, ClaimsToUser, Mapping } from "./claims-to-user.ts";

const text = (description: string) => s.optional(s.string(description));
const mapping = (description: string) =>
  s.optional(
    s.object(description, {
      claim: text("The claim."),
      prefix: text("Prefix of the value of the claim."),
      expression: text("A CEL expression on `claims`, instead of a claim."),
    }),
  );

const issuerFields = {
  issuer: s.object("The provider.", {
    url: s.string("The `iss` of its tokens."),
    discoveryURL: text("Where the discovery document is, if it is not below the url."),
    certificateAuthority: text("PEM of the authority of its server; unset trusts the system's."),
    audiences: s.array("A token must be for one of them.", s.string("An audience.")),
    audienceMatchPolicy: text("MatchAny, which several audiences need."),
    egressSelectorType: text("Not supported: the server connects directly."),
  }),
  claimValidationRules: s.optional(
    s.array(
      "Rules that the claims must meet.",
      s.object({
        claim: text("A claim that must have a value."),
        requiredValue: text("The value."),
        expression: text("A CEL expression on `claims` that must be true."),
        message: text("The error if it is not."),
      }),
    ),
  ),
  claimMappings: s.object("How claims become a user.", {
    username: s.object("The name of the user.", {
      claim: text("The claim."),
      prefix: text("Prefix of the value of the claim."),
      expression: text("A CEL expression on `claims`, instead of a claim."),
    }),
    groups: mapping("The groups of the user."),
    uid: mapping("The uid of the user."),
    extra: s.optional(
      s.array(
        "Extra attributes of the user.",
        s.object({
          key: s.string("The key: a domain, a slash and a path."),
          valueExpression: s.string("A CEL expression on `claims`."),
        }),
      ),
    ),
  }),
  userValidationRules: s.optional(
    s.array(
      "Rules that the user must meet.",
      s.object({
        expression: s.string("A CEL expression on `user` that must be true."),
        message: text("The error if it is not."),
      }),
    ),
  ),
};
const issuer = s.object(issuerFields);
type Issuer = s.Infer<typeof issuer>;

const CONFIGURATION = {
  kind: "AuthenticationConfiguration",
  apiVersions: ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"],
  fields: {
    jwt: s.optional(s.array("The providers.", issuer)),
    anonymous: s.optional(
      s.object("Requests without credentials.", {
        enabled: s.boolean("Whether there are any.", { default: false }),
        conditions: s.optional(
          s.array("Paths that allow them; unset is all.", s.object({ path: s.string("A path.") })),
        ),
      }),
    ),
  },
} as const;

/** A provider as configured. */
interface ConfiguredIssuer {
  readonly url: string;
  readonly discoveryUrl: URL;
  readonly certificateAuthority: string | undefined;
  readonly audiences: readonly string[];
  readonly userOf: ClaimsToUser;
}

export interface AuthenticationConfiguration {
  readonly issuers: readonly ConfiguredIssuer[];
  /** Unset keeps the server's default; otherwise whether requests may be anonymous, or on which paths. */
  readonly anonymous: boolean | ReadonlySet<string> | undefined;
}

/** Kubernetes' limit. */
const MAX_ISSUERS = 64;
const EXTRA_KEY = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[a-z0-9._~!$&'()*+,;=:@%/-]+$/;

/** Throws `ConfigurationError`. `ownIssuer` is the issuer of service account tokens. */
export function readAuthenticationConfiguration(
  content: string,
  file: string,
  ownIssuer: string,
): AuthenticationConfiguration {
  const { jwt = [], anonymous } = readConfiguration(content, file, CONFIGURATION);
  const reject = (error: FieldError): never => {
    throw new ConfigurationError(`${file}: ${fieldErrorText([error])}`);
  };
  if (jwt.length > MAX_ISSUERS) reject(field.tooMany("jwt", jwt.length, MAX_ISSUERS));
  const seen = new Set<string>();
  const issuers = jwt.map((each, index) => {
    const at = `jwt[${index}]`;
    const { url } = each.issuer;
    if (seen.has(url)) reject(field.duplicate(`${at}.issuer.url`, url));
    if (url === ownIssuer) reject(field.invalid(`${at}.issuer.url`, url, "it is the issuer of service account tokens"));
    seen.add(url);
    const problem = issuerProblem(each.issuer, `${at}.issuer`) ?? mappingProblem(each, at);
    if (problem) reject(problem);
    try {
      return configuredIssuer(each);
    } catch (error) {
      throw new ConfigurationError(`${file}: ${at}.${messageOf(error)}`);
    }
  });
  if (anonymous && !anonymous.enabled && anonymous.conditions?.length)
    reject(field.invalid("anonymous.conditions", field.noValue, "enabled must be true if conditions are given"));
  const paths = anonymous?.conditions?.map(({ path }) => path);
  return { issuers, anonymous: anonymous && (paths?.length ? new Set(paths) : anonymous.enabled) };
}

function configuredIssuer({ issuer: own, ...rest }: Issuer): ConfiguredIssuer {
  const { username, groups = {}, uid = {}, extra = [] } = rest.claimMappings;
  const rules: ClaimRules = {
    claimValidationRules: rest.claimValidationRules ?? [],
    username,
    groups,
    uid,
    extra,
    userValidationRules: rest.userValidationRules ?? [],
  };
  return {
    url: own.url,
    discoveryUrl: new URL(own.discoveryURL || `${own.url.replace(/\/+$/, "")}/.well-known/openid-configuration`),
    certificateAuthority: own.certificateAuthority || undefined,
    audiences: own.audiences,
    userOf: compileClaimRules(rules),
  };
}

function issuerProblem(own: Issuer["issuer"], at: string): FieldError | undefined {
  for (const [name, url] of [
    ["url", own.url],
    ["discoveryURL", own.discoveryURL ?? ""],
  ] as const) {
    if (name === "discoveryURL" && url === "") continue;
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    const bad = (why: string): FieldError => field.invalid(`${at}.${name}`, url, why);
    if (!parsed || parsed.protocol !== "https:") return bad("URL scheme must be https");
    if (parsed.username !== "" || parsed.password !== "") return bad("URL must not contain a username or password");
    if (parsed.search !== "" || parsed.hash !== "") return bad("URL must not contain a query or fragment");
  }
  if (own.discoveryURL !== undefined && own.discoveryURL.replace(/\/+$/, "") === own.url.replace(/\/+$/, ""))
    return field.invalid(`${at}.discoveryURL`, field.noValue, "discoveryURL must be different from URL");
  if (own.egressSelectorType)
    return field.forbidden(`${at}.egressSelectorType`, "the server connects to providers directly");
  if (own.audiences.length === 0)
    return field.required(`${at}.audiences`, "at least one jwt[0].issuer.audiences is required");
  if (own.audiences.includes("")) return field.required(`${at}.audiences`, "audience can't be empty");
  if (own.audienceMatchPolicy && own.audienceMatchPolicy !== "MatchAny")
    return field.notSupported(`${at}.audienceMatchPolicy`, own.audienceMatchPolicy, ["MatchAny"]);
  return own.audiences.length > 1 && own.audienceMatchPolicy !== "MatchAny"
    ? field.invalid(`${at}.audienceMatchPolicy`, field.noValue, "must be MatchAny for multiple audiences")
    : undefined;
}

function mappingProblem({ claimMappings, claimValidationRules = [] }: Issuer, place: string): FieldError | undefined {
  const { username, groups, uid, extra = [] } = claimMappings;
  const mappings = `${place}.claimMappings`;
  const problem =
    choiceProblem(mappings, "username", username, true) ??
    (groups && choiceProblem(mappings, "groups", groups, false)) ??
    (uid && choiceProblem(mappings, "uid", uid, false));
  if (problem) return problem;
  for (const [index, { key }] of extra.entries()) {
    const bad = (why: string): FieldError => field.invalid(`${mappings}.extra[${index}].key`, key, why);
    if (!EXTRA_KEY.test(key)) return bad("must be a domain, a slash and a path in lower case");
    if (/(^|\.)(kubernetes|k8s)\.io\//.test(key)) return bad("k8s.io, kubernetes.io and their subdomains are reserved");
    if (extra.findIndex((other) => other.key === key) !== index) return bad("duplicate");
  }
  for (const [index, { claim, requiredValue, expression, message }] of claimValidationRules.entries()) {
    const at = `${place}.claimValidationRules[${index}]`;
    if ((claim === undefined) === (expression === undefined))
      return field.required(at, "either claim or expression is required");
    if (claim !== undefined && message)
      return field.invalid(`${at}.message`, field.noValue, "message can't be set when claim is set");
    if (expression !== undefined && requiredValue)
      return field.invalid(`${at}.requiredValue`, field.noValue, "requiredValue can't be set when expression is set");
  }
  const texts = [
    ...extra.map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.map(({ expression }) => expression),
  ];
  if (
    /\bclaims\.email\b/.test(username.expression ?? "") &&
    ![username.expression, ...texts].some((each) => each?.includes("email_verified"))
  )
    return field.invalid(
      `${mappings}.username.expression`,
      field.noValue,
      "claims.email_verified must be used in claimMappings.username.expression or " +
        "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in " +
        "claimMappings.username.expression",
    );
  return undefined;
}

function choiceProblem(
  mappings: string,
  name: string,
  { claim, prefix, expression }: Mapping,
  isRequired: boolean,
): FieldError | undefined {
  const at = `${mappings}.${name}`;
  if (claim && expression) return field.invalid(at, field.noValue, "claim and expression can't both be set");
  if (!claim && !expression) return isRequired ? field.required(at, "claim or expression is required") : undefined;
  if (expression && prefix !== undefined)
    return field.invalid(`${at}.prefix`, field.noValue, "prefix can't be set when expression is set");
  return claim && name !== "uid" && prefix === undefined
    ? field.required(
        `${at}.prefix`,
        "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
      )
    : undefined;
}
