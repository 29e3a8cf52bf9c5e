import { describe, expect, test } from "vitest";
import { AdmissionCompiler, type AdmissionExpressionOptions, MAX_POLICY_COST } from "./admission-expressions.ts";
import type { AdmissionInput } from "./admission-types.ts";
import type { AuthorizationCheck } from "../library/authorizer.ts";
import { JSON_PATCH, PATCH_OBJECT } from "./patch-types.ts";
import { BOOL, listOf, NULL, STRING } from "../types/types.ts";
import { CelError, type CelValue } from "../values/values.ts";

const deployments = { group: "apps", version: "v1", resource: "deployments" };
const request: AdmissionInput["request"] = {
  kind: { group: "apps", version: "v1", kind: "Deployment" },
  resource: deployments,
  requestKind: { group: "apps", version: "v1", kind: "Deployment" },
  requestResource: deployments,
  name: "web",
  namespace: "shop",
  operation: "CREATE",
  userInfo: { username: "alice", groups: ["devs"] },
  dryRun: false,
};
const input: AdmissionInput = {
  request,
  object: {
    metadata: { name: "web", namespace: "shop", labels: { "app.kubernetes.io/name": "web" } },
    spec: { replicas: 3 },
  },
  namespaceObject: {
    metadata: { name: "shop", labels: { tier: "gold" }, creationTimestamp: "2026-01-02T03:04:05Z" },
    status: { phase: "Active" },
  },
};

function evaluate(text: string, change: Partial<AdmissionInput> = {}, options?: AdmissionExpressionOptions): CelValue {
  const compiler = new AdmissionCompiler({ hasParams: true });
  const { expression, problem } = compiler.compile(text, options);
  if (!expression) throw new Error(problem.detail);
  return expression.evaluate(compiler.bind({ ...input, ...change }), { remaining: MAX_POLICY_COST });
}

const problemOf = (text: string, options?: AdmissionExpressionOptions): string | undefined =>
  new AdmissionCompiler().compile(text, options).problem?.detail;

const values: Record<string, [expression: string, value: CelValue]> = {
  "reads the object": ["object.spec.replicas + 1", 4],
  "reads a field whose name is a reserved word": ["object.metadata.namespace", "shop"],
  "reads labels by their name": ["object.metadata.labels['app.kubernetes.io/name']", "web"],
  "sees no old object on a create": ["oldObject == null", true],
  "reads the request": ["request.userInfo.groups.exists(g, g == 'devs') && request.namespace == 'shop'", true],
  "does not find an optional field that the request lacks": ["has(request.subResource)", false],
  "reads the namespace of the object": ["namespaceObject.metadata.labels.tier", "gold"],
  "reads times of the namespace as timestamps": ["namespaceObject.metadata.creationTimestamp.getFullYear()", 2026],
  "sees no params where the binding has none": ["params == null", true],
};
for (const [what, [expression, value]] of Object.entries(values)) {
  test(`an expression ${what}`, () => {
    expect(evaluate(expression)).toEqual(value);
  });
}

test("an expression sees no namespace for an object of the cluster", () => {
  expect(evaluate("namespaceObject == null", { namespaceObject: undefined })).toBe(true);
});

test("an error names the expression", () => {
  expect(evaluate("object.data.missing == 'x'", { object: { data: {} } })).toEqual(
    new CelError("expression 'object.data.missing == 'x'' resulted in error: no such key: missing"),
  );
});

describe("compilation", () => {
  const problems: Record<string, [expression: string, options: AdmissionExpressionOptions, detail: string]> = {
    "a result of another type": ["1", { returns: [BOOL] }, "must evaluate to bool but got int"],
    "a result whose type is not known": ["object.a", { returns: [BOOL] }, "must evaluate to bool but got dyn"],
    "a result of none of several types": [
      "timestamp('2026-01-01T00:00:00Z')",
      { returns: [STRING, NULL] },
      "must evaluate to one of [string null_type] but got google.protobuf.Timestamp",
    ],
    "params of a policy without a paramKind": [
      "params.x == 1",
      {},
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^",
    ],
    "an unknown field of the request": [
      "request.object",
      {},
      "compilation failed: ERROR: <input>:1:8: undefined field 'object'\n | request.object\n | .......^",
    ],
    "an authorizer in a message": [
      "authorizer.path('/x').check('get').reason()",
      { hasAuthorizer: false },
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/x').check('get').reason()\n | ^",
    ],
    "objects where no patch is made": [
      "Object{}",
      {},
      "compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{}\n | ......^",
    ],
  };
  for (const [what, [expression, options, detail]] of Object.entries(problems)) {
    test(`rejects ${what}`, () => {
      expect(problemOf(expression, options)).toBe(detail);
    });
  }
});

describe("authorizer", () => {
  function checksOf(expression: string): { value: CelValue; checks: AuthorizationCheck[] } {
    const checks: AuthorizationCheck[] = [];
    const value = evaluate(expression, {
      authorize(check) {
        checks.push(check);
        return { allowed: check.verb === "get", reason: `because of ${check.verb}` };
      },
    });
    return { value, checks };
  }

  test("asks about a resource for the user of the request", () => {
    const { value, checks } = checksOf(
      "authorizer.group('').resource('pods').subresource('log').namespace('shop').name('a')." +
        "fieldSelector('x=y').labelSelector('k in (v)').check('get').allowed()",
    );

    expect(value).toBe(true);
    expect(checks).toEqual([
      {
        user: request.userInfo,
        verb: "get",
        resource: {
          group: "",
          resource: "pods",
          subresource: "log",
          namespace: "shop",
          name: "a",
          fieldSelector: "x=y",
          labelSelector: "k in (v)",
        },
      },
    ]);
  });

  test("asks about a path", () => {
    const { value, checks } = checksOf("authorizer.path('/healthz').check('post').reason()");

    expect(value).toBe("because of post");
    expect(checks).toEqual([{ user: request.userInfo, verb: "post", path: "/healthz" }]);
  });

  test("asks about the resource of the request", () => {
    const { checks } = checksOf("authorizer.requestResource.check('approve').allowed()");

    expect(checks).toMatchObject([
      { verb: "approve", resource: { group: "apps", resource: "deployments", namespace: "shop", name: "web" } },
    ]);
  });

  test("asks for a service account", () => {
    const { checks } = checksOf("authorizer.serviceAccount('shop', 'bot').path('/x').check('get').allowed()");

    expect(checks).toMatchObject([
      {
        user: {
          username: "system:serviceaccount:shop:bot",
          groups: ["system:serviceaccounts", "system:serviceaccounts:shop"],
        },
      },
    ]);
  });

  test("shows an error of the authorizer", () => {
    const authorize = (): { allowed: boolean; reason: string; error: string } => ({
      allowed: false,
      reason: "",
      error: "timeout",
    });

    expect(evaluate("authorizer.path('/x').check('get').errored()", { authorize })).toBe(true);
    expect(evaluate("authorizer.path('/x').check('get').error()", { authorize })).toBe("timeout");
  });

  const failures: Record<string, [expression: string, message: string]> = {
    "an empty path": ["authorizer.path(' ').check('get').allowed()", "path must not be empty"],
    "an empty resource": ["authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"],
    "the name of no service account": [
      "authorizer.serviceAccount('shop', 'A').path('/x').check('get').allowed()",
      "Invalid service account name",
    ],
    "a third check, which costs too much": [
      "['/a', '/b', '/c'].all(p, authorizer.path(p).check('get').allowed())",
      "operation cancelled: actual cost limit exceeded",
    ],
  };
  for (const [what, [expression, message]] of Object.entries(failures)) {
    test(`fails on ${what}`, () => {
      expect(checksOf(expression).value).toEqual(
        new CelError(`expression '${expression}' resulted in error: ${message}`),
      );
    });
  }
});

describe("variables of a policy", () => {
  const compile = (variables: Record<string, string>): AdmissionCompiler => {
    const compiler = new AdmissionCompiler({ hasVariables: true });
    for (const [name, text] of Object.entries(variables)) compiler.addVariable(name, text);
    return compiler;
  };
  const valueOf = (compiler: AdmissionCompiler, text: string, remaining = MAX_POLICY_COST): CelValue => {
    const { expression, problem } = compiler.compile(text);
    return expression ? expression.evaluate(compiler.bind(input), { remaining }) : new CelError(problem.detail);
  };

  test("may read earlier variables", () => {
    const compiler = compile({ replicas: "object.spec.replicas", double: "variables.replicas * 2" });

    expect(valueOf(compiler, "variables.double == 6")).toBe(true);
  });

  test("have the type of their expression", () => {
    expect(compile({ count: "1" }).compile("variables.count", { returns: [BOOL] }).problem?.detail).toBe(
      "must evaluate to bool but got int",
    );
  });

  test("are not known before they are defined", () => {
    expect(new AdmissionCompiler({ hasVariables: true }).addVariable("a", "variables.b")?.detail).toBe(
      "compilation failed: ERROR: <input>:1:10: undefined field 'b'\n | variables.b\n | .........^",
    );
  });

  test("are evaluated only when they are read, and an error names the variable", () => {
    const compiler = compile({ missing: "object.data.missing" });

    expect(valueOf(compiler, "true || variables.missing")).toBe(true);
    expect(valueOf(compiler, "variables.missing == 1")).toEqual(
      new CelError(
        "expression 'variables.missing == 1' resulted in error: composited variable \"missing\" fails to evaluate: no such key: data",
      ),
    );
  });

  test("are paid from the budget, once for all expressions of a request", () => {
    const compiler = compile({ costly: "[1, 2, 3].map(x, x * x)" });
    const expression = compiler.compile("variables.costly.size() == 3").expression;
    const bindings = compiler.bind(input);
    const budget = { remaining: 1000 };

    expression?.evaluate(bindings, budget);
    const first = 1000 - budget.remaining;
    expression?.evaluate(bindings, budget);
    const second = 1000 - first - budget.remaining;

    expect(first).toBeGreaterThan(second);
    expect(valueOf(compiler, "variables.costly.size() == 3", first - 1)).toEqual(
      new CelError("validation failed due to running out of cost budget, no further validation rules will be run"),
    );
  });

  test("may replace a variable of the same name, but not read it", () => {
    const compiler = new AdmissionCompiler({ hasVariables: true });
    compiler.addVariable("a", "1");
    compiler.addVariable("a", "variables.a + 1");

    expect(valueOf(compiler, "variables.a")).toBeInstanceOf(CelError);
  });
});

describe("patches", () => {
  const patch = { hasPatchTypes: true };

  test("an apply configuration is an Object of any fields", () => {
    const text =
      "Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{replicas: object.spec.replicas + 1}}";

    expect(problemOf(text, { ...patch, returns: [PATCH_OBJECT] })).toBeUndefined();
    expect(evaluate(`${text}.spec.replicas`, {}, patch)).toBe(4);
  });

  test("a JSON patch is a list of operations", () => {
    const text = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: 'x'}]";

    expect(problemOf(text, { ...patch, returns: [listOf(JSON_PATCH)] })).toBeUndefined();
    expect(evaluate(`${text}[0].path`, {}, patch)).toBe("/metadata/labels/a~1b~0c");
  });

  test("a field that was not set has no value, and can be read", () => {
    expect(evaluate("has(Object{a: 1}.b)", {}, patch)).toBe(false);
    expect(evaluate("Object{a: 1}.b", {}, patch)).toBe(null);
    expect(evaluate("JSONPatch{op: 'add'}.path", {}, patch)).toBe("");
  });

  test("a part of an object is not an apply configuration", () => {
    expect(problemOf("Object.spec{replicas: 1}", { ...patch, returns: [PATCH_OBJECT] })).toBe(
      "must evaluate to Object but got Object.spec",
    );
  });

  test("the fields of an operation have types", () => {
    expect(problemOf("JSONPatch{op: 1}", patch)).toBe(
      "compilation failed: ERROR: <input>:1:13: expected type of field 'op' is 'string' but provided type is 'int'\n | JSONPatch{op: 1}\n | ............^",
    );
  });
});
