/**
 * Reads the configuration files that kube-apiserver's flags name, such as an audit policy: one object of a known kind,
 * checked strictly. An unknown field, a wrong type or a missing value is an error with its path, because a server that
 * starts with half of a policy is worse than one that does not start.
 */
import { FlotillaError, isObject, type Json } from "@flotilla/base";
import { ApiError, fieldErrorText } from "../status.ts";
import { parseYaml } from "../text/yaml.ts";
import { compileSchema } from "../schema/structural.ts";
import { object, type Fields, type Stored } from "./schema-builder.ts";

export interface ConfigurationKind<F extends Fields> {
  readonly kind: string;
  /** `audit.k8s.io/v1`; the versions have the same fields. */
  readonly apiVersions: readonly string[];
  readonly fields: F;
}

/** The file is not a valid configuration: the server does not start with it. */
export class ConfigurationError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Configuration", message, options);
  }
}

/** `name` is how errors refer to the text: the path of the file, usually. */
export function readConfiguration<const F extends Fields>(
  text: string,
  name: string,
  { kind, apiVersions, fields }: ConfigurationKind<F>,
): Stored<F> & { apiVersion: string } {
  const value = parse(text, name);
  if (!isObject(value)) throw new ConfigurationError(`${name}: expected a ${kind}, found no object`);
  if (value["kind"] !== kind || !apiVersions.some((version) => version === value["apiVersion"]))
    throw new ConfigurationError(
      `${name}: expected kind ${kind} of ${apiVersions.join(" or ")}, found kind ${JSON.stringify(value["kind"])} of ${JSON.stringify(value["apiVersion"])}`,
    );
  const { schema } = object(kind, fields);
  const whole = {
    ...schema,
    properties: { apiVersion: { type: "string" as const }, kind: { type: "string" as const }, ...schema.properties },
  };
  const compiled = compileSchema(whole);
  const unknown: string[] = [];
  const { metadata: _metadata, ...sent } = value;
  const admitted = compiled.admit(sent, { unknownFields: unknown });
  if (unknown.length > 0) throw new ConfigurationError(`${name}: unknown field ${unknown.join(", ")}`);
  const findings = compiled.validate(admitted);
  if (findings)
    throw new ConfigurationError(
      `${name}: ${fieldErrorText([...findings.values, ...findings.embedded, ...findings.duplicates])}`,
    );
  return admitted as Stored<F> & { apiVersion: string };
}

function parse(text: string, name: string): Json {
  try {
    return parseYaml(text, { uniqueKeys: true });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigurationError(`${name} cannot be read as YAML or JSON: ${error.message}`);
  }
}
