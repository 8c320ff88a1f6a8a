"""An assistant over the official Python client of MCP. It is run with the URL of the endpoint, prints the URL at which its
user signs in, and reads the URL with which the browser comes back."""

import asyncio
import sys
from urllib.parse import parse_qs, urlparse

from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

url = sys.argv[1]
CALLBACK = "http://127.0.0.1:1/callback"


class Storage:
    """Keeps tokens and the registered client in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def open_browser(address):
    print(address, flush=True)


async def wait_for_browser():
    returned = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlparse(returned.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main():
    metadata = OAuthClientMetadata(
        client_name="An assistant in Python", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"
    )
    auth = OAuthClientProvider(url, metadata, Storage(), open_browser, wait_for_browser)
    async with create_mcp_http_client(auth=auth) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            result = await client.call_tool("list_projects", {})
            print("error" if result.is_error else "called")


asyncio.run(main())
