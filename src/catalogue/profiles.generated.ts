// Generated from catalogue/ by scripts/generate-catalogue.mjs; change the files there and run it again.

/** The catalogue's folders by name; the profiles are checked when they are looked up. */
// prettier-ignore
export const CATALOGUE: Readonly<Record<string, { readonly profile: unknown; readonly setup: string }>> = {
  "sharklio": {
    "profile": {
      "id": "sharklio",
      "name": "Sharklio",
      "methods": [
        "GET"
      ],
      "fields": {
        "transactionId": {
          "query": "tx"
        },
        "user": {
          "query": "user"
        },
        "amount": {
          "query": "reward",
          "unit": "coins"
        },
        "status": {
          "query": "status"
        },
        "eventId": {
          "query": "event",
          "optional": true
        },
        "offer": {
          "query": "offer",
          "optional": true
        },
        "payout": {
          "query": "payout",
          "optional": true
        },
        "signature": {
          "query": "hash"
        }
      },
      "urlTemplate": "tx={transaction_id}&user={user_id}&reward={reward}&status={status}&event={event_id}&hash={hash}",
      "signature": {
        "message": {
          "template": "{transactionId}:{user}:{amount}:{status}",
          "values": "received"
        },
        "digest": {
          "hmac": "sha256",
          "key": "secret"
        },
        "encoding": "hex"
      },
      "entry": [
        {
          "when": {
            "status": "1"
          },
          "is": "credit"
        },
        {
          "when": {
            "status": "2"
          },
          "is": "reversal"
        }
      ],
      "otherwise": "ignored",
      "amountSign": "positive",
      "key": "{transactionId}",
      "reversalOf": "{transactionId}",
      "test": {
        "when": {
          "transactionId": {
            "startsWith": "test_"
          }
        },
        "default": "credit"
      },
      "answers": {},
      "timeBudgetMs": 6000,
      "retries": [
        "1m",
        "5m",
        "30m",
        "2h",
        "6h"
      ],
      "addresses": {
        "readOn": null,
        "list": []
      },
      "unconfirmed": false
    },
    "setup": "1. Open your app in Sharklio's dashboard and go to its postback settings.\n2. Paste your receiver's address for this network, followed by `?tx={transaction_id}&user={user_id}&reward={reward}&status={status}&event={event_id}&hash={hash}`. Keep `status={status}`: without it reversals cannot be told from credits. Add `&offer={offer_id}&payout={payout}` to keep these with each entry.\n3. Copy the postback secret key of the app (not the salt of link hashes) into `secret`.\n4. Send a test postback from the dashboard. Its transaction id begins with `test_`; the balance changes, and the entry is marked as a test.\n5. A failed call comes again after about 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours, and can be resent by hand later.\n"
  },
}
