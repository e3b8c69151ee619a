// A token server: oidc-provider, client credentials over TLS. It says what it
// issued and refused, one word a line.
import fs from 'node:fs';
import https from 'node:https';
import { Provider } from 'oidc-provider';

const port = Number(process.env.PORT);
const way = process.env.CLIENT_AUTH || 'client_secret_basic';
const provider = new Provider(`https://127.0.0.1:${port}`, {
	clients: [{
		client_id: process.env.CLIENT_ID,
		client_secret: process.env.CLIENT_SECRET,
		token_endpoint_auth_method: way,
		grant_types: ['client_credentials'],
		redirect_uris: [], response_types: [], scope: 'edc.write',
	}, {
		client_id: 'gate', client_secret: 'gate',
		grant_types: ['client_credentials'],
		redirect_uris: [], response_types: [],
	}],
	scopes: ['edc.write'],
	features: {
		clientCredentials: { enabled: true },
		introspection: { enabled: true, allowedPolicy: () => true },
		revocation: { enabled: true, allowedPolicy: () => true },
		devInteractions: { enabled: false },
	},
	ttl: { ClientCredentials: Number(process.env.TTL) },
});
provider.on('grant.success', () => console.log('issued'));
provider.on('grant.error', (ctx, e) => console.log(`refused ${e.error}`));
https.createServer({
	key: fs.readFileSync('server.key'), cert: fs.readFileSync('server.crt'),
}, provider.callback()).listen(port, '127.0.0.1');
