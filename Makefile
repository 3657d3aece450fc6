# Every target sets up first; the set-up is instant when nothing changed. Logic lives in Python, where it is tested.
PYTHON ?= python3
RUN := .venv/bin/python
.DEFAULT_GOAL := help

# `make run` takes these as make variables or from the environment; `make run PORT=9000 SAMPLE=0`.
export PORT DATA INDEX MODEL LLM_URL LLM_MODEL SAMPLE

.PHONY: help setup run sample-papers trace test test-weaviate test-postgres lint protos weights lock load eval tune study-ranking chart-schema bench-embed bench-search bench-ingest faults-ingest

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:
	@$(PYTHON) services/local/bootstrap.py

run: setup ## Start everything here (PORT DATA INDEX MODEL LLM_URL LLM_MODEL SAMPLE=0)
	@$(RUN) -m services.local run

sample-papers: setup ## Add the collection `papers` to a running `make run`
	@$(RUN) -m services.local sample-papers

trace: setup ## Print the newest trace as a tree, or the one of REQUEST=<request id>
	@$(RUN) -m services.local trace "$(REQUEST)"

test: setup ## Run all tests that need no server build (ARGS goes to pytest)
	@$(RUN) -m pytest $(ARGS)

test-weaviate: export WEAVIATE_URL := $(or $(WEAVIATE_URL),start)
test-weaviate: setup ## Run what runs on Weaviate (WEAVIATE_URL=host:http_port:grpc_port[,...], else one is built and started)
	@$(if $(filter start,$(WEAVIATE_URL)),$(RUN) -m services.local weaviate-server)
	@$(RUN) -m pytest -m "weaviate and not postgres" $(ARGS)

test-postgres: export POSTGRES_URL := $(or $(POSTGRES_URL),start)
test-postgres: export WEAVIATE_URL := start
test-postgres: setup ## Run what runs on PostgreSQL, beside Weaviate where it needs both (POSTGRES_URL, else one is started)
	@$(RUN) -m services.local weaviate-server
	@$(RUN) -m pytest -m postgres $(ARGS)

lint: setup ## Check style, types, import contracts and generated code
	@$(RUN) -m services.local.lint

protos: setup ## Generate Python code from protos/
	@$(RUN) protos/generate.py

weights: setup ## Fetch and check model weights (MODEL=all-MiniLM-L6-v2)
	@$(RUN) -m services.local weights

lock: setup ## Resolve all dependencies again
	@$(RUN) -m services.local.lock_requirements

load: setup ## Offer an open load and judge it by the latency budget (URL of a running stack; ARGS)
	@$(RUN) -m loadtests load $(if $(URL),--url $(URL)) $(ARGS)

faults-ingest: setup ## kill -9 of worker, embedding and index during ingests, on both pairs of engines (MOMENTS=50 ARGS)
	@$(RUN) -m loadtests.ingest_faults $(if $(MOMENTS),--moments $(MOMENTS)) $(ARGS)

chart-schema: setup ## Write the services' settings into the chart's schema
	@$(RUN) charts/settings_schema.py

eval: setup ## Judged quality, stage by stage, against the accepted figures (ARGS: sets and options; no GPU needed)
	@$(RUN) -m loadtests.quality $(ARGS)

tune: setup ## Tune ranking on a collection's judged queries; writes a settings file, changes nothing (COLLECTION DATA ARGS)
	@$(RUN) -m loadtests.tune $(COLLECTION) $(if $(DATA),--data $(DATA)) $(ARGS)

study-ranking: setup ## The tables that the defaults of ranking stand on (ARGS: --sets papers pubmedqa-topics ...)
	@$(RUN) -m loadtests.tune --study $(if $(DATA),--data $(DATA)) $(ARGS)

bench-embed: setup ## Embedding side by side with the library and infinity (MODEL PASSAGES ARGS; see docs/embedding.md)
	@$(RUN) -m loadtests.embed_bench bench $(if $(MODEL),--model $(MODEL)) $(if $(PASSAGES),--passages $(PASSAGES)) $(ARGS)

bench-search: setup ## Recall, filters, speed and memory of both engines, and search beside bare clients (CHUNKS=100000 ARGS)
	@$(RUN) -m loadtests.search_bench $(if $(CHUNKS),--chunks $(CHUNKS)) $(ARGS)

bench-ingest: setup ## What ingest costs beside embedding, what it does not do twice, and its memory (ARGS)
	@$(RUN) -m loadtests.ingest_bench $(ARGS)
