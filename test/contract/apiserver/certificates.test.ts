/** CertificateSigningRequests: the requester, who may approve and sign, and which fields are immutable. */
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { writeCertificateRequest, type RequestSubject } from "@flotilla/apimachinery";
import { contract, eventually } from "../../programs/api-servers.ts";
import type { Answer, Api } from "../../programs/raw-client.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const SIGNER = "example.com/signer";
const CLIENT = "kubernetes.io/kube-apiserver-client";

interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  lastUpdateTime?: string | null;
  lastTransitionTime?: string | null;
}
interface Request {
  metadata: {
    name: string;
    resourceVersion?: string;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
  };
  spec: Record<string, unknown>;
  status: { conditions?: Condition[]; certificate?: string };
}

const requestOf = ({ body }: Answer): Request => body as unknown as Request;
const pemFor = (subject: RequestSubject): string =>
  Buffer.from(writeCertificateRequest({ subject, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) })).toString(
    "base64",
  );
const request = pemFor({ CN: ["jane"], O: ["dev"] });
const make = (name: string, spec: object = {}, rest: object = {}): object => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name },
  spec: { request, signerName: SIGNER, usages: ["client auth"], ...spec },
  ...rest,
});
const approved = { type: "Approved", status: "True", reason: "Fine" };
const denied = { type: "Denied", status: "True", reason: "No" };

contract("certificates", (subject) => {
  const create = async (name: string, spec?: object, api: Api = subject.api): Promise<Request> => {
    const answer = await api.create(PATH, make(name, spec));
    expect(answer.status, answer.text).toBe(201);
    return requestOf(answer);
  };
  const read = async (name: string): Promise<Request> => requestOf(await subject.api.get(`${PATH}/${name}`));
  /** Writes conditions through a subresource, as a PUT of the whole object. */
  const write = async (
    name: string,
    part: "approval" | "status",
    status: Request["status"],
    api: Api = subject.api,
  ): Promise<Answer> => api.replace(`${PATH}/${name}/${part}`, { ...(await read(name)), status });
  const causes = ({ body }: Answer): string[] =>
    (body.details?.causes ?? []).map(({ field, message }) => `${field ?? ""}: ${message ?? ""}`);

  test("a CSR records the user who sent it, and a new one is pending", async () => {
    const eve = subject.api.as({
      "impersonate-user": "eve",
      "impersonate-uid": "u-1",
      "impersonate-group": ["system:masters", "dev"],
      "impersonate-extra-example.com%2fteam": ["a", "b"],
    });

    const answer = await eve.create(
      PATH,
      make(
        "forged",
        { username: "admin", uid: "x", groups: ["kings"], extra: { a: ["b"] } },
        { status: { conditions: [approved], certificate: "eA==" } },
      ),
    );

    expect(answer.status, answer.text).toBe(201);
    expect(requestOf(answer).spec).toEqual({
      request,
      signerName: SIGNER,
      usages: ["client auth"],
      username: "eve",
      uid: "u-1",
      groups: ["system:masters", "dev", "system:authenticated"],
      extra: { "example.com/team": ["a", "b"] },
    });
    expect(requestOf(answer).status).toEqual({});
  });

  test("spec and status of a CSR are immutable, metadata is not", async () => {
    const made = await create("fixed");

    const answer = await subject.api.replace(`${PATH}/fixed`, {
      ...made,
      metadata: { ...made.metadata, labels: { a: "b" } },
      spec: { ...made.spec, usages: ["server auth"], username: "eve" },
      status: { conditions: [approved] },
    });

    expect(answer.status, answer.text).toBe(200);
    expect(requestOf(answer)).toMatchObject({
      metadata: { labels: { a: "b" } },
      spec: { usages: ["client auth"], username: made.spec["username"] },
      status: {},
    });
    expect(requestOf(answer).status.conditions).toBeUndefined();
  });

  test("approval sets and dates the decision, and issues no certificate", async () => {
    await create("decided");

    const answer = await write("decided", "approval", {
      conditions: [{ ...approved, lastUpdateTime: null, lastTransitionTime: null }],
      certificate: "eA==",
    });

    expect(answer.status, answer.text).toBe(200);
    expect(requestOf(answer).status).toEqual({
      conditions: [
        { ...approved, lastUpdateTime: expect.any(String) as string, lastTransitionTime: expect.any(String) as string },
      ],
    });
  });

  test("the spec of a CSR has no field owner, and managedFields only contain owned fields", async () => {
    const made = await subject.api.create(PATH, make("unowned"));
    const decided = await write("unowned", "approval", { conditions: [approved] });
    await subject.api.create(PATH, make("owned", {}, { metadata: { name: "owned", labels: { a: "b" } } }));
    const owned = await write("owned", "approval", { conditions: [approved] });

    expect([made.body.metadata.managedFields, decided.body.metadata.managedFields]).toEqual([undefined, undefined]);
    expect(
      owned.body.metadata.managedFields
        ?.map(({ subresource, fieldsV1 }) => [subresource, Object.keys(fieldsV1 as object)])
        .sort(),
    ).toEqual([
      [undefined, ["f:metadata"]],
      ["approval", ["f:status"]],
    ]);
  });

  test("approval may be patched, with metadata", async () => {
    await create("patched");

    const answer = await subject.api.patch("merge", `${PATH}/patched/approval`, {
      metadata: { annotations: { a: "b" } },
      spec: { usages: ["any"] },
      status: { conditions: [denied] },
    });

    expect(answer.status, answer.text).toBe(200);
    expect(requestOf(answer)).toMatchObject({
      metadata: { annotations: { a: "b" } },
      spec: { usages: ["client auth"] },
      status: { conditions: [denied] },
    });
  });

  test("approval and status can be read", async () => {
    await create("parts");

    for (const part of ["approval", "status"])
      expect((await subject.api.get(`${PATH}/parts/${part}`)).body.metadata.name).toBe("parts");
  });

  const refusedDecisions: Record<
    string,
    { first?: Condition[]; part?: "status"; conditions: Condition[]; want: string[] }
  > = {
    "a decision with another status than True": {
      conditions: [{ type: "Approved", status: "False" }],
      want: ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    },
    "a condition without a status": {
      conditions: [{ type: "Ready" }],
      want: ["status.conditions[0].status: Required value"],
    },
    "a condition without a type": {
      conditions: [{ status: "True" }],
      want: ["status.conditions[0].type: Required value"],
    },
    "an invalid condition status": {
      conditions: [{ type: "Ready", status: "Maybe" }],
      want: ['status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
    },
    "both Approved and Denied": {
      conditions: [approved, denied],
      want: ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    },
    "the same decision twice": {
      conditions: [approved, approved],
      want: ['status.conditions[1].type: Duplicate value: "Approved"'],
    },
    "to withdraw a decision": {
      first: [approved],
      conditions: [],
      want: ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    },
    "to decide through the status subresource": {
      part: "status",
      conditions: [approved],
      want: ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    },
  };
  for (const [index, [what, { first, part = "approval", conditions, want }]] of Object.entries(
    refusedDecisions,
  ).entries()) {
    test(`a client may not write ${what}`, async () => {
      const name = `refused-${index}`;
      await create(name);
      if (first) await write(name, "approval", { conditions: first });

      const answer = await write(name, part, { conditions });

      expect(answer.status, answer.text).toBe(422);
      expect(causes(answer)).toEqual(want);
    });
  }

  test("a status update does not change the existing decision", async () => {
    await create("kept");
    const decided = requestOf(await write("kept", "approval", { conditions: [approved] }));

    const answer = await write("kept", "status", {
      conditions: [
        { ...approved, reason: "Other" },
        { type: "Failed", status: "True" },
      ],
    });

    expect(answer.status, answer.text).toBe(200);
    expect(requestOf(answer).status.conditions?.[0]).toEqual(decided.status.conditions?.[0]);
    expect(requestOf(answer).status.conditions?.[1]).toMatchObject({
      type: "Failed",
      lastUpdateTime: expect.any(String) as string,
    });
  });

  test("a certificate is set once, through the status, and must be valid PEM", async () => {
    const { cert } = await subject.certificate("alice", []);
    const certificate = Buffer.from(cert).toString("base64");
    await create("signed");

    const text = await write("signed", "status", { certificate: Buffer.from("hello").toString("base64") });
    const headers = await write("signed", "status", {
      certificate: Buffer.from(cert.replace("-----\n", "-----\nA: b\n\n")).toString("base64"),
    });
    const key = await write("signed", "status", {
      certificate: Buffer.from("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").toString("base64"),
    });
    const set = await write("signed", "status", { certificate });
    const { cert: another } = await subject.certificate("another", []);
    const again = await write("signed", "status", { certificate: Buffer.from(another).toString("base64") });

    const why = 'status.certificate: Invalid value: "<certificate data>": ';
    expect(causes(text)).toEqual([`${why}must contain at least one CERTIFICATE PEM block`]);
    expect(causes(headers)).toEqual([`${why}no PEM block headers are permitted`]);
    expect(causes(key)).toEqual([`${why}only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"`]);
    expect([set.status, requestOf(set).status.certificate]).toEqual([200, certificate]);
    expect(causes(again)).toEqual([
      "status.certificate: Forbidden: updates may not modify existing certificate content",
    ]);
  });

  const WRONG_REQUEST = 'spec.request: Invalid value: "aGVsbG8=": PEM block type must be CERTIFICATE REQUEST';
  const wrongSpecs: Record<string, { spec: object; want: string[] }> = {
    "a request that is not PEM": { spec: { request: "aGVsbG8=" }, want: [WRONG_REQUEST] },
    "no usages": { spec: { usages: [] }, want: ["spec.usages: Required value"] },
    "a duplicate usage": { spec: { usages: ["any", "any"] }, want: ['spec.usages[1]: Duplicate value: "any"'] },
    "no signer": { spec: { signerName: "" }, want: ["spec.signerName: Required value"] },
    "a signer without a domain": {
      spec: { signerName: "signer" },
      want: [
        "spec.signerName: Invalid value: \"signer\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ],
    },
    "a signer with a one-label domain": {
      spec: { signerName: "com/x" },
      want: ['spec.signerName: Invalid value: "com": should be a domain with at least two segments separated by dots'],
    },
    "the legacy signer": {
      spec: { signerName: "kubernetes.io/legacy-unknown" },
      want: [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    },
    "a too short expiration": {
      spec: { expirationSeconds: 599 },
      want: [
        "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)",
      ],
    },
  };
  for (const [what, { spec, want }] of Object.entries(wrongSpecs)) {
    test(`a CSR may not have ${what}`, async () => {
      const answer = await subject.api.create(PATH, make("wrong", spec));

      expect(answer.status, answer.text).toBe(422);
      expect(causes(answer)).toEqual(want);
    });
  }

  test("only known key usages are accepted", async () => {
    const answer = await subject.api.create(PATH, make("wrong", { usages: ["Client Auth"] }));

    expect(causes(answer)).toEqual([
      expect.stringMatching(
        /^spec\.usages\[0\]: Unsupported value: "Client Auth": supported values: "any", "cert sign", "client auth",.*"timestamping"$/,
      ) as string,
    ]);
  });

  test("a client certificate for system:masters is rejected", async () => {
    const answer = await subject.api.create(
      PATH,
      make("king", { request: pemFor({ O: ["dev", "system:masters"], CN: ["jane"] }), signerName: CLIENT }),
    );

    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe(
      'certificatesigningrequests.certificates.k8s.io "king" is forbidden: use of ' +
        "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
    );
    expect(
      (await subject.api.create(PATH, make("prince", { request: pemFor({ O: ["system:masters"] }) }))).status,
    ).toBe(201);
  });

  test("approving and signing need permission for the signer or its domain", async () => {
    await subject.api.create(`${RBAC}/clusterroles`, {
      metadata: { name: "cs-writer" },
      rules: [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
          verbs: ["update"],
        },
      ],
    });
    await subject.api.create(`${RBAC}/clusterroles`, {
      metadata: { name: "cs-approver" },
      rules: [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["signers"],
          verbs: ["approve"],
          resourceNames: ["example.com/*"],
        },
      ],
    });
    for (const [role, users] of [
      ["cs-writer", ["ann", "bob"]],
      ["cs-approver", ["ann"]],
    ] as const) {
      await subject.api.create(`${RBAC}/clusterrolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: role },
        subjects: users.map((name) => ({ apiGroup: GROUP, kind: "User", name })),
      });
    }
    await create("rights");
    await create("other-rights", { signerName: "other.example.com/signer" });
    const [ann, bob] = ["ann", "bob"].map((name) => subject.api.as({ "impersonate-user": name })) as [Api, Api];
    const messageOf = ({ body }: Answer): unknown => body.message;
    const refusal = (name: string, verb: string, signer: string): string =>
      `certificatesigningrequests.certificates.k8s.io ${JSON.stringify(name)} is forbidden: user not permitted ` +
      `to ${verb} requests with signerName ${JSON.stringify(signer)}`;

    // The real server learns of roles a little later.
    await eventually(
      "bob's right to write",
      () => write("rights", "approval", { conditions: [approved] }, bob),
      ({ body }) => body.message === refusal("rights", "approve", SIGNER),
    );
    const approval = await eventually(
      "ann's right to approve",
      () => write("rights", "approval", { conditions: [approved] }, ann),
      ({ status }) => status === 200,
    );
    const elsewhere = await write("other-rights", "approval", { conditions: [approved] }, ann);
    const signing = await write(
      "rights",
      "status",
      { conditions: [...(requestOf(approval).status.conditions ?? []), { type: "Failed", status: "True" }] },
      ann,
    );
    const nothing = await write("rights", "status", (await read("rights")).status, ann);

    expect(messageOf(elsewhere)).toBe(refusal("other-rights", "approve", "other.example.com/signer"));
    expect(messageOf(signing)).toBe(refusal("rights", "sign", SIGNER));
    expect(nothing.status).toBe(200);
  });

  test("CSRs are printed with requester and signer, and can be selected by signerName", async () => {
    await create("printed", { expirationSeconds: 3600, signerName: "printed.example.com/x" });

    const { body } = await subject.api.get(`${PATH}?fieldSelector=spec.signerName%3Dprinted.example.com%2Fx`, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });

    const table = body as unknown as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual([
      "Name",
      "Age",
      "SignerName",
      "Requestor",
      "RequestedDuration",
      "Condition",
    ]);
    expect(table.rows.map(({ cells: [name, , ...rest] }) => [name, ...rest])).toEqual([
      ["printed", "printed.example.com/x", expect.any(String), "60m", "Pending"],
    ]);
  });

  test("a user extra named __proto__ is stored as plain data", async () => {
    const answer = await subject.api
      .as({ "impersonate-user": "eve", "impersonate-extra-__proto__": "x" })
      .create(PATH, make("hostile"));

    // Without further groups eve has no permissions, although the administrator impersonates her.
    expect(answer.status).toBe(403);
    const asMaster = await subject.api
      .as({ "impersonate-user": "eve", "impersonate-group": "system:masters", "impersonate-extra-__proto__": "x" })
      .create(PATH, make("hostile"));
    expect(asMaster.status, asMaster.text).toBe(201);
    expect(asMaster.text.replaceAll(/\s/g, "")).toContain('"extra":{"__proto__":["x"]}');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
