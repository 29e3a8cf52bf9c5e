/** From the claims of a verified token to a user: validation rules, mappings, and rules on the user. Pure. */
import { FlotillaError, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { BOOL, CelError, CelList, compileCel, DYN, dynamicValueOf, formatType, mapOf, STRING } from "@flotilla/cel";
import type { CelValue } from "@flotilla/cel";
import { authenticatedUser } from "../access/bearer-tokens.ts";
import type { UserInfo } from "../request/user-info.ts";

/** A claim with a prefix, or an expression. */
export interface Mapping {
  readonly claim?: string | undefined;
  readonly prefix?: string | undefined;
  readonly expression?: string | undefined;
}

export interface ClaimRules {
  readonly claimValidationRules: readonly {
    readonly claim?: string | undefined;
    readonly requiredValue?: string | undefined;
    readonly expression?: string | undefined;
    readonly message?: string | undefined;
  }[];
  readonly username: Mapping;
  readonly groups: Mapping;
  readonly uid: Mapping;
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly userValidationRules: readonly { readonly expression: string; readonly message?: string | undefined }[];
}

/** Returns the user, or why the claims give none. */
export type ClaimsToUser = (claims: JsonObject) => UserInfo | { error: string };

type Evaluate = (bindings: Readonly<Record<string, CelValue>>) => CelValue | CelError;

/** Enough for any rule that a person writes; the same limit as for conditions of webhooks. */
const MAX_COST = 2_500_000;

/** Throws with the field and the reason when an expression does not compile. */
export function compileClaimRules(rules: ClaimRules): ClaimsToUser {
  const claimsType = { claims: mapOf(STRING, DYN) };
  const inClaims = (field: string, expression: string, wants?: typeof BOOL): Evaluate =>
    compile(field, expression, claimsType, wants);
  const validations = rules.claimValidationRules.map((rule, index) => ({
    ...rule,
    evaluate:
      rule.expression === undefined
        ? undefined
        : inClaims(`claimValidationRules[${index}].expression`, rule.expression, BOOL),
  }));
  const compiled = (field: string, mapping: Mapping) => ({
    ...mapping,
    evaluate: mapping.expression === undefined ? undefined : inClaims(field, mapping.expression),
  });
  const username = compiled("claimMappings.username.expression", rules.username);
  const groups = compiled("claimMappings.groups.expression", rules.groups);
  const uid = compiled("claimMappings.uid.expression", rules.uid);
  const extra = rules.extra.map(({ key, valueExpression }, index) => ({
    key,
    evaluate: inClaims(`claimMappings.extra[${index}].valueExpression`, valueExpression),
  }));
  const userRules = rules.userValidationRules.map(({ expression, message }, index) => ({
    message,
    expression,
    evaluate: compile(`userValidationRules[${index}].expression`, expression, { user: DYN }, BOOL),
  }));

  return (claims) => {
    try {
      const bindings = { claims: dynamicValueOf(claims) };
      for (const { claim, requiredValue = "", evaluate, expression = "", message } of validations) {
        if (evaluate) {
          if (!isTrue(evaluate(bindings), expression))
            throw new ClaimError(message || `validation expression '${expression}' failed`);
        } else if (claims[claim ?? ""] !== requiredValue)
          throw new ClaimError(
            claims[claim ?? ""] === undefined
              ? `required claim ${claim ?? ""} not present in ID token`
              : `required claim ${claim ?? ""} value does not match`,
          );
      }
      const name = textOf(username, claims, bindings, "username");
      if (name === "" || name === undefined) throw new ClaimError("username claim is empty");
      if (username.claim === "email" && claims.email_verified !== undefined && claims.email_verified !== true)
        throw new ClaimError("email not verified");
      const user: UserInfo = {
        ...authenticatedUser(
          name,
          listOf(groups, claims, bindings, "groups"),
          textOf(uid, claims, bindings, "uid") || undefined,
        ),
        extra: extraOf(extra, bindings),
      };
      const input = { user: dynamicValueOf(userJson(user)) };
      for (const { evaluate, expression, message } of userRules)
        if (!isTrue(evaluate(input), expression))
          throw new ClaimError(message || `validation expression '${expression}' failed`);
      return Object.freeze(user);
    } catch (error) {
      if (error instanceof ClaimError) return { error: error.message };
      throw error;
    }
  };
}

/** Why claims give no user. */
class ClaimError extends Error {}

function compile(
  field: string,
  expression: string,
  variables: Parameters<typeof compileCel>[1]["variables"],
  wants?: typeof BOOL,
): Evaluate {
  const { program, errors } = compileCel(expression, { variables, hasBindings: true });
  if (!program)
    throw new FlotillaError("Configuration", `${field}: Invalid value: ${JSON.stringify(expression)}: ${errors}`);
  if (wants && program.resultType.kind !== wants.kind && program.resultType.kind !== DYN.kind)
    throw new FlotillaError(
      "Configuration",
      `${field}: Invalid value: ${JSON.stringify(expression)}: must evaluate to bool, not ${formatType(program.resultType)}`,
    );
  return (bindings) => program.evaluate(bindings, { remaining: MAX_COST });
}

function isTrue(value: CelValue | CelError, expression: string): boolean {
  if (value instanceof CelError) throw new ClaimError(`expression '${expression}' resulted in error: ${value.message}`);
  return value === true;
}

type CompiledMapping = Mapping & { readonly evaluate: Evaluate | undefined };
type Bindings = Readonly<Record<string, CelValue>>;

function textOf(mapping: CompiledMapping, claims: JsonObject, bindings: Bindings, what: string): string | undefined {
  const { claim, prefix = "", evaluate, expression = "" } = mapping;
  if (evaluate) {
    const value = evaluate(bindings);
    if (value instanceof CelError)
      throw new ClaimError(`expression '${expression}' resulted in error: ${value.message}`);
    if (typeof value !== "string") throw new ClaimError(`the expression for ${what} does not evaluate to a string`);
    return value;
  }
  if (claim === undefined) return undefined;
  const value = claims[claim];
  if (value === undefined && what === "uid") return undefined;
  if (typeof value !== "string") throw new ClaimError(`claim ${claim} is not a string`);
  return value === "" ? "" : `${prefix}${value}`;
}

function listOf(mapping: CompiledMapping, claims: JsonObject, bindings: Bindings, what: string): string[] {
  const { claim, prefix = "", evaluate, expression = "" } = mapping;
  if (evaluate) return stringsOf(evaluate(bindings), what, expression);
  const value: Json | undefined = claim === undefined ? undefined : claims[claim];
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  if (!list.every((item) => typeof item === "string"))
    throw new ClaimError(`claim ${claim ?? ""} is not a list of strings`);
  return list.map((item) => `${prefix}${item}`);
}

function stringsOf(value: CelValue | CelError, what: string, expression: string): string[] {
  if (value instanceof CelError) throw new ClaimError(`expression '${expression}' resulted in error: ${value.message}`);
  if (value === null) return [];
  if (typeof value === "string") return value === "" ? [] : [value];
  const items: unknown[] =
    value instanceof CelList ? Array.from({ length: value.size }, (_, index) => value.at(index)) : [undefined];
  if (!items.every((item) => typeof item === "string"))
    throw new ClaimError(`the expression for ${what} does not evaluate to a string or a list of strings`);
  return items.filter((item) => item !== "");
}

function extraOf(
  extra: readonly { readonly key: string; readonly evaluate: Evaluate }[],
  bindings: Bindings,
): UserInfo["extra"] {
  const found = extra.flatMap(({ key, evaluate }): [string, string[]][] => {
    const values = stringsOf(evaluate(bindings), `extra ${key}`, key);
    return values.length === 0 ? [] : [[key, values]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function userJson({ name, uid, groups, extra }: UserInfo): JsonObject {
  const json: JsonObject = { username: name, uid: uid ?? "", groups: [...groups], extra: {} };
  if (extra && isObject(json.extra)) for (const [key, values] of Object.entries(extra)) json.extra[key] = [...values];
  return json;
}
